import type { Card, FullBoard } from '@lockstep/client'
import type { Change, SubmittedChange } from '@lockstep/client/live'

const objects: Record<string, string> = {
  Board: 'the board',
  Member: 'a member',
  Column: 'a column',
  Card: 'a card',
  Label: 'a label',
  Checklist: 'a checklist',
  Item: 'a checklist item',
  Attachment: 'a file',
}
const verbs: Record<string, string> = {
  create: 'add',
  delete: 'delete',
  move: 'move',
  assign: 'assign',
  unassign: 'unassign',
  invite: 'invite',
  remove: 'remove',
}

/** Describes a change that failed: "move a card". */
export function describeChange({ name, input }: Change): string {
  if (name === 'addCardLabel') return 'label a card'
  if (name === 'removeCardLabel') return 'remove a label from a card'
  const [, verb = '', object = ''] = /^([a-z]+)(\w+)$/.exec(name) ?? []
  const update = 'title' in input || 'name' in input ? 'rename' : 'edit'
  return `${verbs[verb] ?? update} ${objects[object] ?? 'something'}`
}

const steps: Record<string, string> = {
  move: 'move',
  add: 'label change',
  remove: 'label change',
  assign: 'assignee change',
  unassign: 'assignee change',
}

/** The id of the object that a change is about. For labels of a card it is the card. */
export const subjectId = ({ id, change: { name, input } }: SubmittedChange): string =>
  name.endsWith('CardLabel') ? (input as { card_id: string }).card_id : id

/** Describes an undo or redo: "move of “X”". `change` is the one that was made to undo or redo the original. */
export function describeStep({ name, input }: Change, isUndo: boolean, subject: string): string {
  const [, verb = ''] = /^([a-z]+)/.exec(name) ?? []
  if (verb === 'create' || verb === 'delete')
    return `${(verb === 'create') === isUndo ? 'deletion' : 'creation'} of ${subject}`
  const update = 'is_done' in input ? 'check mark' : 'title' in input || 'name' in input ? 'rename' : 'edit'
  return `${steps[verb] ?? update} of ${subject}`
}

/** The name of the object with this id, and the card that it is or belongs to. */
export function findSubject(board: FullBoard, id: string): { name: string; card?: Card } | undefined {
  for (const column of board.columns) {
    if (column.id === id) return { name: `column “${column.title}”` }
    for (const card of column.cards) {
      if (card.id === id) return { name: `“${card.title}”`, card }
      for (const checklist of card.checklists) {
        const title = checklist.id === id ? checklist.title : checklist.items.find((item) => item.id === id)?.content
        if (title !== undefined) return { name: `“${title}” in “${card.title}”`, card }
      }
    }
  }
  const label = board.labels.find((each) => each.id === id)
  return label && { name: `label “${label.name}”` }
}
