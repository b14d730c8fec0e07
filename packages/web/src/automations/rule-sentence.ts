import type { AutomationRule, FullBoard } from '@lockstep/client'
import { nameOf } from '../ui/people.tsx'

/** What a rule does, without its name. */
export type RuleParts = Pick<
  AutomationRule,
  'trigger_type' | 'trigger_column_id' | 'trigger_label_id' | 'action_type' | 'action_column_id' | 'action_user_id'
>
/** What may be wrong with a rule; `is_broken` when it can no longer act. */
export interface Warning {
  text: string
  is_broken: boolean
}

/** "When a card moves to Review, assign Grace Hopper." */
export const ruleSentence = (rule: RuleParts, view: FullBoard): string =>
  `When a card ${triggerText(rule, view)}, ${actionText(rule, view)}.`

/** "Review: assign Grace Hopper", as long as nobody thinks of a better name. */
export function suggestedName(rule: RuleParts, view: FullBoard): string {
  const { lane, label } = namesIn(view)
  const when = {
    CARD_CREATED: 'New card',
    CARD_MOVED: lane(rule.trigger_column_id),
    LABEL_ADDED: label(rule.trigger_label_id),
  }
  const action = actionText(rule, view).replace(' it ', ' ')
  return `${when[rule.trigger_type] ?? 'Somewhere'}: ${action}`.slice(0, 255)
}

/** What the service leaves unsaid: things that are gone, and rules that look as if they set each other off. */
export function warningsOf(rule: AutomationRule, rules: readonly AutomationRule[], view: FullBoard): Warning[] {
  const { lane, label, person } = namesIn(view)
  const warnings: Warning[] = []
  const broken = (what: string) => warnings.push({ text: `This rule points at ${what} that is gone.`, is_broken: true })
  if (rule.trigger_type === 'CARD_CREATED')
    warnings.push({ text: 'This rule never acts: the creation of a card sets off no rule.', is_broken: false })
  if (rule.trigger_type === 'CARD_MOVED' && !lane(rule.trigger_column_id)) broken('a lane')
  if (rule.trigger_type === 'LABEL_ADDED' && !label(rule.trigger_label_id)) broken('a label')
  if (rule.action_type === 'ASSIGN_MEMBER' && !person(rule.action_user_id))
    warnings.push({ text: 'This rule points at a member who is gone.', is_broken: true })
  if (rule.action_type !== 'MOVE_TO_COLUMN') return warnings
  const target = lane(rule.action_column_id)
  if (!target) broken('a lane')
  else if (rule.trigger_type === 'CARD_MOVED' && rule.trigger_column_id === rule.action_column_id)
    warnings.push({ text: `It does nothing: the card is in ${target} already.`, is_broken: false })
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
      const text = `What a rule does sets off no other rule: ${names} will not act on cards that this one moves to ${target}.`
      warnings.push({ text, is_broken: false })
    }
  }
  return warnings
}

function triggerText(rule: RuleParts, view: FullBoard): string {
  const { lane, label } = namesIn(view)
  if (rule.trigger_type === 'CARD_CREATED') return 'is created'
  if (rule.trigger_type === 'CARD_MOVED') return `moves to ${lane(rule.trigger_column_id) ?? 'a lane that is gone'}`
  const name = label(rule.trigger_label_id)
  return name === undefined ? 'gets a label that is gone' : `gets the label “${name}”`
}

function actionText(rule: RuleParts, view: FullBoard): string {
  const { lane, person } = namesIn(view)
  return rule.action_type === 'MOVE_TO_COLUMN'
    ? `move it to ${lane(rule.action_column_id) ?? 'a lane that is gone'}`
    : `assign ${person(rule.action_user_id) ?? 'a member who is gone'}`
}

const namesIn = ({ columns, labels, members }: FullBoard) => ({
  lane: (id: string | null) => columns.find((column) => column.id === id)?.title,
  label: (id: string | null) => labels.find((label) => label.id === id)?.name,
  person: (id: string | null) => {
    const user = members.find(({ user_id }) => user_id === id)?.user
    return user && nameOf(user)
  },
})
