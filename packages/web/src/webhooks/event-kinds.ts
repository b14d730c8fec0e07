import type { EventKind } from '@lockstep/client'
import { t } from './messages.ts'

/** Every kind of event with its group, so that the compiler finds a missing one. */
const groupsByKind: Record<EventKind, string> = {
  'board.updated': t.boardAndMembers,
  'board.deleted': t.boardAndMembers,
  'board.member_added': t.boardAndMembers,
  'board.member_removed': t.boardAndMembers,
  'column.created': t.columns,
  'column.updated': t.columns,
  'column.moved': t.columns,
  'column.deleted': t.columns,
  'card.created': t.cards,
  'card.updated': t.cards,
  'card.moved': t.cards,
  'card.assigned': t.cards,
  'card.unassigned': t.cards,
  'card.labeled': t.cards,
  'card.unlabeled': t.cards,
  'card.deleted': t.cards,
  'label.created': t.labels,
  'label.updated': t.labels,
  'label.deleted': t.labels,
  'checklist.created': t.checklists,
  'checklist.updated': t.checklists,
  'checklist.moved': t.checklists,
  'checklist.deleted': t.checklists,
  'checklist_item.created': t.checklists,
  'checklist_item.updated': t.checklists,
  'checklist_item.moved': t.checklists,
  'checklist_item.assigned': t.checklists,
  'checklist_item.unassigned': t.checklists,
  'checklist_item.deleted': t.checklists,
  'attachment.created': t.files,
  'attachment.deleted': t.files,
  'comment.created': t.comments,
  'comment.updated': t.comments,
  'comment.deleted': t.comments,
}

export const kindGroups: readonly (readonly [label: string, kinds: readonly EventKind[]])[] = [
  ...Map.groupBy(Object.keys(groupsByKind) as EventKind[], (kind) => groupsByKind[kind]),
]

/** The chosen kinds for a summary: whole groups by their label, other kinds one by one. */
export function summaryOf(kinds: readonly EventKind[]): { groups: string[]; others: EventKind[] } {
  const whole = kindGroups.filter(([, all]) => all.every((kind) => kinds.includes(kind)))
  const covered = new Set(whole.flatMap(([, all]) => all))
  return { groups: whole.map(([label]) => label), others: kinds.filter((kind) => !covered.has(kind)) }
}
