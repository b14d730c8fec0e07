import type { FullBoard } from '@lockstep/client'
import type { Change, SubmittedChange } from '@lockstep/client/live'
import { expect, test } from 'vitest'
import { describeStep, findSubject, subjectId } from './describe-change.ts'

const item = { id: 'item', content: 'Test it' }
const card = { id: 'card', title: 'Write', checklists: [{ id: 'list', title: 'Steps', items: [item] }] }
const board = {
  columns: [{ id: 'column', title: 'To do', cards: [card] }],
  labels: [{ id: 'label', name: 'urgent' }],
} as unknown as FullBoard

const step = (id: string, name: string, input: object, isUndo: boolean) => {
  const change = { name, input } as unknown as Change
  return describeStep(
    change,
    isUndo,
    findSubject(board, subjectId({ id, change } as SubmittedChange))?.name ?? 'the board',
  )
}

test.each([
  ['card', 'moveCard', { card_id: 'card' }, 'move of “Write”'],
  ['card', 'updateCard', { card_id: 'card', title: 'Write' }, 'rename of “Write”'],
  ['card', 'updateCard', { card_id: 'card', description: '' }, 'edit of “Write”'],
  ['card', 'assignCard', { card_id: 'card' }, 'assignee change of “Write”'],
  ['label', 'addCardLabel', { card_id: 'card', label_id: 'label' }, 'label change of “Write”'],
  ['item', 'updateItem', { item_id: 'item', is_done: true }, 'check mark of “Test it” in “Write”'],
  ['list', 'moveChecklist', { checklist_id: 'list' }, 'move of “Steps” in “Write”'],
  ['column', 'updateColumn', { column_id: 'column', color: '#123456' }, 'edit of column “To do”'],
  ['label', 'updateLabel', { label_id: 'label', name: 'urgent' }, 'rename of label “urgent”'],
  ['', 'updateBoard', { title: 'Plan' }, 'rename of the board'],
])('[WEB-97] an undone or redone change is described: %s, %s %o', (id, name, input, text) => {
  expect([step(id, name, input, true), step(id, name, input, false)]).toEqual([text, text])
})

test('[WEB-97] undoing a deletion is called a deletion, redoing a creation a creation', () => {
  const [created, deleted] = (['createCard', 'deleteCard'] as const).map((name) => [
    step('card', name, { id: 'card', title: 'Write' }, true),
    step('card', name, { id: 'card', title: 'Write' }, false),
  ])
  expect(created).toEqual(['deletion of “Write”', 'creation of “Write”'])
  expect(deleted).toEqual(['creation of “Write”', 'deletion of “Write”'])
})
