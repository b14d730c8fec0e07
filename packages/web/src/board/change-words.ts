import type { Card, FullBoard } from '@lockstep/client'
import type { Change, SubmittedChange } from '@lockstep/client/live'

const things: Record<string, string> = {
  Board: 'the board',
  Member: 'a member',
  Column: 'a lane',
  Card: 'a card',
  Label: 'a label',
  Checklist: 'a checklist',
  Item: 'a checklist item',
  Attachment: 'a file',
}
const verbs: Record<string, string> = {
  create: 'Adding',
  update: 'Changing',
  delete: 'Deleting',
  move: 'Moving',
  assign: 'Assigning somebody to',
  unassign: 'Taking somebody off',
  invite: 'Inviting',
  remove: 'Removing',
  add: 'Adding',
}

/** A change in words, for when it did not come about: "Moving a card". */
export function changeWords({ name }: Change): string {
  if (name === 'addCardLabel') return 'Labelling a card'
  if (name === 'removeCardLabel') return 'Taking a label off a card'
  const [, verb = '', thing = ''] = /^([a-z]+)(\w+)$/.exec(name) ?? []
  return `${verbs[verb] ?? 'Changing'} ${things[thing] ?? 'something'}`
}

const steps: Record<string, string> = {
  move: 'move',
  add: 'label change',
  remove: 'label change',
  assign: 'assignee change',
  unassign: 'assignee change',
}

/** The id of what a change is about: of a label that is put on a card or taken off, the card. */
export const subjectId = ({ id, change: { name, input } }: SubmittedChange): string =>
  name.endsWith('CardLabel') ? (input as { card_id: string }).card_id : id

/** What was undone or redone: “move of “X””. The change is the one that was made to undo or redo it. */
export function stepWords({ name, input }: Change, is_undo: boolean, about: string): string {
  const [, verb = ''] = /^([a-z]+)/.exec(name) ?? []
  if (verb === 'create' || verb === 'delete')
    return `${(verb === 'create') === is_undo ? 'deletion' : 'creation'} of ${about}`
  const kind = 'is_done' in input ? 'check mark' : 'title' in input || 'name' in input ? 'rename' : 'edit'
  return `${steps[verb] ?? kind} of ${about}`
}

/** What an id belongs to, in words, and the card that it is or hangs from. */
export function lookUp(board: FullBoard, id: string): { words: string; card?: Card } | undefined {
  for (const column of board.columns) {
    if (column.id === id) return { words: `column “${column.title}”` }
    for (const card of column.cards) {
      if (card.id === id) return { words: `“${card.title}”`, card }
      for (const { id: list_id, title, items } of card.checklists) {
        const name = list_id === id ? title : items.find((item) => item.id === id)?.content
        if (name !== undefined) return { words: `“${name}” in “${card.title}”`, card }
      }
    }
  }
  const label = board.labels.find((each) => each.id === id)
  return label && { words: `label “${label.name}”` }
}
