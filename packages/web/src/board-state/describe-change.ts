import type { Card, FullBoard } from '@lockstep/client'
import type { Change, ChangeName } from '@lockstep/client/live'
import { failures, t } from './messages.ts'

type FailureMessage = (values: { reason: string }) => string
/** A new operation does not compile without its message. */
const failed: Record<ChangeName, FailureMessage> = failures
const failedRename: Partial<Record<ChangeName, FailureMessage>> = {
  updateBoard: failures.renameBoard,
  updateColumn: failures.renameColumn,
  updateCard: failures.renameCard,
  updateLabel: failures.renameLabel,
}
const hasName = (input: Change['input']): boolean => 'title' in input || 'name' in input

/** The texts that the user typed. */
export function textsOf({ input }: Change): string[] {
  const { title, name, content, description } = input as Record<string, unknown>
  return [title, name, content, description].filter((text) => typeof text === 'string')
}

/** Describes a change that failed: "Couldn’t move a card.", and why. */
export function describeFailure({ name, input }: Change, reason: string): string {
  const message = (hasName(input) ? failedRename[name] : undefined) ?? failed[name]
  return message({ reason })
}

type StepMessage = (values: { subject: string }) => string
interface StepMessages {
  undid: StepMessage
  redid: StepMessage
}
// A deletion is undone by a creation, and a creation by a deletion.
const created: StepMessages = { undid: t.undidDeletion, redid: t.redidCreation }
const deleted: StepMessages = { undid: t.undidCreation, redid: t.redidDeletion }
// Both are undone by a restore.
const archived: StepMessages = { undid: t.undidRestore, redid: t.redidArchiving }
const restored: StepMessages = { undid: t.restored, redid: t.restored }
const moved: StepMessages = { undid: t.undidMove, redid: t.redidMove }
const renamed: StepMessages = { undid: t.undidRename, redid: t.redidRename }
const edited: StepMessages = { undid: t.undidEdit, redid: t.redidEdit }
const checked: StepMessages = { undid: t.undidCheckMark, redid: t.redidCheckMark }
const labeled: StepMessages = { undid: t.undidLabelChange, redid: t.redidLabelChange }
const assigned: StepMessages = { undid: t.undidAssigneeChange, redid: t.redidAssigneeChange }
const dueDateSet: StepMessages = { undid: t.undidDueDateChange, redid: t.redidDueDateChange }

/** Changes of members can't be undone, and deleted boards and files can't be restored. */
type StepName = Exclude<
  ChangeName,
  'deleteBoard' | 'inviteMember' | 'updateMember' | 'removeMember' | 'deleteAttachment'
>
/** By the operation that undoes or redoes a change. A new operation does not compile without its messages. */
const steps: Record<StepName, StepMessages> = {
  updateBoard: edited,
  createColumn: created,
  updateColumn: edited,
  deleteColumn: deleted,
  archiveColumn: archived,
  moveColumn: moved,
  createCard: created,
  updateCard: edited,
  deleteCard: deleted,
  archiveCard: archived,
  restoreRemoved: restored,
  moveCard: moved,
  assignCard: assigned,
  unassignCard: assigned,
  addCardLabel: labeled,
  removeCardLabel: labeled,
  createLabel: created,
  updateLabel: edited,
  deleteLabel: deleted,
  createChecklist: created,
  updateChecklist: edited,
  deleteChecklist: deleted,
  moveChecklist: moved,
  createItem: created,
  updateItem: edited,
  deleteItem: deleted,
  moveItem: moved,
  assignItem: assigned,
  unassignItem: assigned,
}

/** The kind of edit, from the fields that it sets. */
function editOf(input: Change['input']): StepMessages {
  if ('is_done' in input) return checked
  if ('due_on' in input) return dueDateSet
  return hasName(input) ? renamed : edited
}

/** Describes an undo or redo: "Undid: move of “X”". `change` is the one that was made to undo or redo the original. */
export function describeStep({ name, input }: Change, isUndo: boolean, subject: string): string {
  const step = steps[name as StepName]
  const { undid, redid } = step === edited ? editOf(input) : step
  return isUndo ? undid({ subject }) : redid({ subject })
}

/** The name of the object with this id, and the card that it is or belongs to. */
export function findSubject(board: FullBoard, id: string): { name: string; card?: Card } | undefined {
  for (const column of board.columns) {
    if (column.id === id) return { name: t.theColumn({ title: column.title }) }
    for (const card of column.cards) {
      const { title } = card
      if (card.id === id) return { name: t.theCard({ title }), card }
      for (const checklist of card.checklists) {
        const name = checklist.id === id ? checklist.title : checklist.items.find((item) => item.id === id)?.content
        if (name !== undefined) return { name: t.partOfCard({ name, title }), card }
      }
    }
  }
  const label = board.labels.find((each) => each.id === id)
  return label && { name: t.theLabel({ name: label.name }) }
}
