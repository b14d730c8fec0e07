import type { FullBoard } from '@lockstep/client'
import type { Change } from '@lockstep/client/live'
import { expect, test } from 'vitest'
import { describeFailure, describeStep, findSubject } from './describe-change.ts'

const item = { id: 'item', content: 'Test it' }
const card = { id: 'card', title: 'Write', checklists: [{ id: 'list', title: 'Steps', items: [item] }] }
const board = {
  columns: [{ id: 'column', title: 'To do', cards: [card] }],
  labels: [{ id: 'label', name: 'urgent' }],
} as unknown as FullBoard

const makeChange = (name: string, input: object) => ({ name, input }) as unknown as Change
const step = (id: string, name: string, input: object, isUndo: boolean) =>
  describeStep(makeChange(name, input), isUndo, findSubject(board, id)?.name ?? 'the board')

test.each([
  ['card', 'moveCard', { card_id: 'card' }, 'move of “Write”'],
  ['card', 'updateCard', { card_id: 'card', title: 'Write' }, 'rename of “Write”'],
  ['card', 'updateCard', { card_id: 'card', description: '' }, 'edit of “Write”'],
  ['card', 'updateCard', { card_id: 'card', due_on: null }, 'due date change of “Write”'],
  ['card', 'assignCard', { card_id: 'card' }, 'assignee change of “Write”'],
  ['card', 'addCardLabel', { card_id: 'card', label_id: 'label' }, 'label change of “Write”'],
  ['item', 'updateItem', { item_id: 'item', is_done: true }, 'check mark of “Test it” in “Write”'],
  ['list', 'moveChecklist', { checklist_id: 'list' }, 'move of “Steps” in “Write”'],
  ['column', 'updateColumn', { column_id: 'column', color: '#123456' }, 'edit of column “To do”'],
  ['label', 'updateLabel', { label_id: 'label', name: 'urgent' }, 'rename of label “urgent”'],
  ['', 'updateBoard', { title: 'Plan' }, 'rename of the board'],
])('[WEB-97] an undone or redone change is described: %s, %s %o', (id, name, input, text) => {
  expect([step(id, name, input, true), step(id, name, input, false)]).toEqual([`Undid: ${text}`, `Redid: ${text}`])
})

test('[WEB-97] undoing a deletion is called a deletion, redoing a creation a creation', () => {
  const [created, deleted] = (['createCard', 'deleteCard'] as const).map((name) => [
    step('card', name, { id: 'card', title: 'Write' }, true),
    step('card', name, { id: 'card', title: 'Write' }, false),
  ])
  expect(created).toEqual(['Undid: deletion of “Write”', 'Redid: creation of “Write”'])
  expect(deleted).toEqual(['Undid: creation of “Write”', 'Redid: deletion of “Write”'])
})

test('[WEB-97] an undone removal is a restore, whether it was archived or deleted', () => {
  const input = { removed_id: 'card' }
  expect([true, false].map((isUndo) => step('card', 'restoreRemoved', input, isUndo))).toEqual(
    Array(2).fill('Restored “Write”'),
  )
  expect(step('card', 'archiveCard', { card_id: 'card' }, false)).toBe('Redid: archiving of “Write”')
})

test.each([
  ['createCard', { id: 'card', title: 'Write' }, 'Couldn’t add a card. No.'],
  ['updateCard', { card_id: 'card', title: 'Write' }, 'Couldn’t rename a card. No.'],
  ['updateCard', { card_id: 'card', description: '' }, 'Couldn’t edit a card. No.'],
  ['updateLabel', { label_id: 'label', name: 'urgent' }, 'Couldn’t rename a label. No.'],
  ['updateItem', { item_id: 'item', is_done: true }, 'Couldn’t edit a checklist item. No.'],
  ['removeCardLabel', { card_id: 'card', label_id: 'label' }, 'Couldn’t remove a label from a card. No.'],
])('[WEB-73] a failed change is described: %s %o', (name, input, text) => {
  expect(describeFailure(makeChange(name, input), 'No.')).toBe(text)
})
