import type { AutomationRule, FullBoard } from '@lockstep/client'
import { nameOf } from '../ui/people.tsx'

/** Trigger and action of a rule. */
export type RuleParts = Pick<
  AutomationRule,
  'trigger_type' | 'trigger_column_id' | 'trigger_label_id' | 'action_type' | 'action_column_id' | 'action_user_id'
>
/** A warning about a rule; `isBroken` if it can no longer run. */
export interface RuleWarning {
  text: string
  isBroken: boolean
}

/** "When a card moves to Review, assign Grace Hopper." */
export const ruleSentence = (rule: RuleParts, view: FullBoard): string =>
  `When a card ${triggerText(rule, view)}, ${actionText(rule, view)}.`

/** "Review: assign Grace Hopper": the default name. */
export function suggestedName(rule: RuleParts, view: FullBoard): string {
  const { column, label } = namesIn(view)
  const when = {
    CARD_CREATED: 'New card',
    CARD_MOVED: column(rule.trigger_column_id),
    LABEL_ADDED: label(rule.trigger_label_id),
  }
  const action = actionText(rule, view).replace(' it ', ' ')
  return `${when[rule.trigger_type] ?? 'Deleted'}: ${action}`.slice(0, 255)
}

/** Warns about deleted references, rules that never run, and rules that seem to trigger each other. */
export function warningsOf(rule: AutomationRule, rules: readonly AutomationRule[], view: FullBoard): RuleWarning[] {
  const { column, label, person } = namesIn(view)
  const warnings: RuleWarning[] = []
  const broken = (what: string) => warnings.push({ text: `This rule refers to a ${what}.`, isBroken: true })
  if (rule.trigger_type === 'CARD_CREATED')
    warnings.push({ text: 'This rule never runs: creating a card doesn’t trigger rules.', isBroken: false })
  if (rule.trigger_type === 'CARD_MOVED' && !column(rule.trigger_column_id)) broken('deleted column')
  if (rule.trigger_type === 'LABEL_ADDED' && !label(rule.trigger_label_id)) broken('deleted label')
  if (rule.action_type === 'ASSIGN_MEMBER' && !person(rule.action_user_id)) broken('removed member')
  if (rule.action_type !== 'MOVE_TO_COLUMN') return warnings
  const target = column(rule.action_column_id)
  if (!target) broken('deleted column')
  else if (rule.trigger_type === 'CARD_MOVED' && rule.trigger_column_id === rule.action_column_id)
    warnings.push({ text: `This rule does nothing: the card is already in ${target}.`, isBroken: false })
  else {
    const next = rules.filter(
      (other) =>
        other.id !== rule.id &&
        other.is_enabled &&
        other.trigger_type === 'CARD_MOVED' &&
        other.trigger_column_id === rule.action_column_id,
    )
    if (next.length > 0) {
      const names = next.map(({ name }) => `“${name}”`).join(' and ')
      const text = `Rules don’t trigger other rules: ${names} won’t run for cards that this rule moves to ${target}.`
      warnings.push({ text, isBroken: false })
    }
  }
  return warnings
}

function triggerText(rule: RuleParts, view: FullBoard): string {
  const { column, label } = namesIn(view)
  if (rule.trigger_type === 'CARD_CREATED') return 'is created'
  if (rule.trigger_type === 'CARD_MOVED') return `moves to ${column(rule.trigger_column_id) ?? 'a deleted column'}`
  const name = label(rule.trigger_label_id)
  return name === undefined ? 'gets a deleted label' : `gets the label “${name}”`
}

function actionText(rule: RuleParts, view: FullBoard): string {
  const { column, person } = namesIn(view)
  return rule.action_type === 'MOVE_TO_COLUMN'
    ? `move it to ${column(rule.action_column_id) ?? 'a deleted column'}`
    : `assign ${person(rule.action_user_id) ?? 'a removed member'}`
}

const namesIn = ({ columns, labels, members }: FullBoard) => ({
  column: (id: string | null) => columns.find((each) => each.id === id)?.title,
  label: (id: string | null) => labels.find((label) => label.id === id)?.name,
  person: (id: string | null) => {
    const user = members.find(({ user_id }) => user_id === id)?.user
    return user && nameOf(user)
  },
})
