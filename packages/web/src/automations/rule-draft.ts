import type { AutomationRule, FullBoard } from '@lockstep/client'
import { type RuleParts, suggestedName } from './rule-sentence.ts'
import type { RuleInput } from './use-rules.ts'

/** The values of the rule form. Choices for one trigger stay while another one is selected. */
export interface RuleDraft extends RuleParts {
  /** `undefined` while the suggested name is used. */
  name: string | undefined
  is_enabled: boolean
}

/** Unsaved rules by board and rule, so that closing the dialog loses nothing. */
const drafts = new Map<string, RuleDraft>()
export const draftKey = (board_id: string, rule_id: string | undefined) => `${board_id} ${rule_id ?? 'new'}`
export const readRuleDraft = (key: string) => drafts.get(key)
export function writeRuleDraft(key: string, draft: RuleDraft | undefined) {
  if (draft) drafts.set(key, draft)
  else drafts.delete(key)
}

/** A suggested name keeps following the sentence. */
export const draftOf = (rule: AutomationRule, view: FullBoard): RuleDraft => ({
  ...rule,
  name: rule.name === suggestedName(rule, view) ? undefined : rule.name,
})

export const emptyDraft = ({ columns, labels }: FullBoard, meId: string): RuleDraft => ({
  name: undefined,
  trigger_type: 'CARD_MOVED',
  trigger_column_id: columns[0]?.id ?? null,
  trigger_label_id: labels[0]?.id ?? null,
  action_type: 'ASSIGN_MEMBER',
  action_column_id: columns.at(-1)?.id ?? null,
  action_user_id: meId,
  is_enabled: true,
})

/** Sends only the references that the rule uses: the server validates all of them. */
export function inputOf(draft: RuleDraft, name: string): RuleInput {
  const { trigger_type, action_type, is_enabled } = draft
  return {
    name,
    trigger_type,
    trigger_column_id: trigger_type === 'CARD_MOVED' ? draft.trigger_column_id : null,
    trigger_label_id: trigger_type === 'LABEL_ADDED' ? draft.trigger_label_id : null,
    action_type,
    action_column_id: action_type === 'MOVE_TO_COLUMN' ? draft.action_column_id : null,
    action_user_id: action_type === 'ASSIGN_MEMBER' ? draft.action_user_id : null,
    is_enabled,
  }
}

/** Two example rules for this board. */
export function examplesFor(view: FullBoard, meId: string): RuleDraft[] {
  const { columns, labels, members } = view
  const empty = emptyDraft(view, meId)
  const open = columns.filter((column) => !column.is_done_column)
  const busy = open[1] ?? open[0]
  const label = labels.find(({ name }) => /bug|urgent/i.test(name)) ?? labels[0]
  const last = open.at(-1)
  const other = members.find(({ user_id }) => user_id !== meId)
  const examples: (RuleDraft | undefined)[] = [
    busy && { ...empty, trigger_column_id: busy.id },
    label && open[0]
      ? {
          ...empty,
          trigger_type: 'LABEL_ADDED',
          trigger_label_id: label.id,
          action_type: 'MOVE_TO_COLUMN',
          action_column_id: open[0].id,
        }
      : last && other && { ...empty, trigger_column_id: last.id, action_user_id: other.user_id },
  ]
  return examples.filter((example) => example !== undefined)
}
