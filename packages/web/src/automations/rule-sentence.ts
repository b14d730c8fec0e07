import type { AutomationRule, FullBoard } from '@lockstep/client'
import { nameOf } from '../ui/people.tsx'
import { t } from './messages.ts'

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
export function ruleSentence(rule: RuleParts, view: FullBoard): string {
  const { target, person } = actionOf(rule, view)
  const isMove = rule.action_type === 'MOVE_TO_COLUMN'
  if (rule.trigger_type === 'CARD_CREATED') return isMove ? t.createdMove({ target }) : t.createdAssign({ person })
  const names = namesIn(view)
  if (rule.trigger_type === 'CARD_MOVED') {
    const column = names.column(rule.trigger_column_id) ?? t.deletedColumn
    return isMove ? t.movedMove({ column, target }) : t.movedAssign({ column, person })
  }
  const label = names.label(rule.trigger_label_id)
  if (label === undefined) return isMove ? t.deletedLabelMove({ target }) : t.deletedLabelAssign({ person })
  return isMove ? t.labeledMove({ label, target }) : t.labeledAssign({ label, person })
}

/** "Review: assign Grace Hopper": the default name. */
export function suggestedName(rule: RuleParts, view: FullBoard): string {
  const { column, label } = namesIn(view)
  const { target, person } = actionOf(rule, view)
  const triggers = {
    CARD_CREATED: t.newCardTrigger,
    CARD_MOVED: column(rule.trigger_column_id),
    LABEL_ADDED: label(rule.trigger_label_id),
  }
  const trigger = triggers[rule.trigger_type] ?? t.deletedTrigger
  const isMove = rule.action_type === 'MOVE_TO_COLUMN'
  return (isMove ? t.moveName({ trigger, target }) : t.assignName({ trigger, person })).slice(0, 255)
}

/** Warns about deleted references, rules that never run, and rules that seem to trigger each other. */
export function warningsOf(rule: AutomationRule, rules: readonly AutomationRule[], view: FullBoard): RuleWarning[] {
  const { column, label, person } = namesIn(view)
  const warnings: RuleWarning[] = []
  const broken = (text: string) => warnings.push({ text, isBroken: true })
  if (rule.trigger_type === 'CARD_CREATED') warnings.push({ text: t.neverRuns, isBroken: false })
  if (rule.trigger_type === 'CARD_MOVED' && !column(rule.trigger_column_id)) broken(t.refersToColumn)
  if (rule.trigger_type === 'LABEL_ADDED' && !label(rule.trigger_label_id)) broken(t.refersToLabel)
  if (rule.action_type === 'ASSIGN_MEMBER' && !person(rule.action_user_id)) broken(t.refersToMember)
  if (rule.action_type !== 'MOVE_TO_COLUMN') return warnings
  const target = column(rule.action_column_id)
  if (!target) broken(t.refersToColumn)
  else if (rule.trigger_type === 'CARD_MOVED' && rule.trigger_column_id === rule.action_column_id)
    warnings.push({ text: t.doesNothing({ column: target }), isBroken: false })
  else {
    const next = rules.filter(
      (other) =>
        other.id !== rule.id &&
        other.is_enabled &&
        other.trigger_type === 'CARD_MOVED' &&
        other.trigger_column_id === rule.action_column_id,
    )
    if (next.length > 0) {
      const names = next.map(({ name }) => t.quoted({ name })).reduce((all, name) => t.namesAnd({ names: all, name }))
      warnings.push({ text: t.noChain({ count: next.length, names, column: target }), isBroken: false })
    }
  }
  return warnings
}

/** The names in the action: the column for a move, the person for an assignment. */
function actionOf(rule: RuleParts, view: FullBoard) {
  const { column, person } = namesIn(view)
  return {
    target: column(rule.action_column_id) ?? t.deletedColumn,
    person: person(rule.action_user_id) ?? t.removedMember,
  }
}

const namesIn = ({ columns, labels, members }: FullBoard) => ({
  column: (id: string | null) => columns.find((each) => each.id === id)?.title,
  label: (id: string | null) => labels.find((label) => label.id === id)?.name,
  person: (id: string | null) => {
    const user = members.find(({ user_id }) => user_id === id)?.user
    return user && nameOf(user)
  },
})
