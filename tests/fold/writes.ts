import { randomUUID } from 'node:crypto'
import { operations } from '@lockstep/contract'
import type { Operation } from '@lockstep/contract/operation'
import { type Resource, resourceNames } from '@lockstep/contract/resources'
import type { Inputs, OperationName, Operations } from '@lockstep/testing/client'

/** Every operation that changes a board which is there. */
export type WritingOperation = Exclude<
  { [N in OperationName]: Operations[N] extends { emits: readonly string[] } ? N : never }[OperationName],
  // The first creates the board, the second would end the record.
  'createBoard' | 'deleteBoard'
>

export type Kind = Exclude<Resource, 'board'>
export const kinds = resourceNames.filter((name): name is Kind => name !== 'board')
/** Resources known to the clients. Some are deleted, which causes conflicts. */
export interface Known {
  board_id: string
  /** Users who can be invited, removed and assigned. */
  people: readonly string[]
  ids: Record<Kind, string[]>
}
export const knownOf = (board_id: string, people: readonly string[]): Known => ({
  board_id,
  people,
  ids: Object.fromEntries(kinds.map((kind) => [kind, []])) as unknown as Known['ids'],
})

/** Random choices from given numbers: the same numbers lead to the same choices. */
export class Dice {
  private readonly rolls: readonly number[]
  private next = 0

  constructor(rolls: readonly number[]) {
    this.rolls = rolls
  }

  roll(sides: number): number {
    return (this.rolls[this.next++ % this.rolls.length] ?? 0) % sides
  }

  oneOf<T>(...all: [T, ...T[]]): T {
    return all[this.roll(all.length)] as T
  }

  among<T>(list: readonly T[]): T | undefined {
    return list.length === 0 ? undefined : list[this.roll(list.length)]
  }

  isOneIn(sides: number): boolean {
    return this.roll(sides) === 0
  }
}

const NOWHERE = '00000000-0000-4000-8000-000000000000'
/** Mostly a recent id, so that clients conflict; sometimes an old one or an unknown one. */
function idOf(kind: Kind, dice: Dice, { ids }: Known): string {
  if (dice.isOneIn(40)) return NOWHERE
  const all = ids[kind]
  return dice.among(dice.isOneIn(8) ? all : all.slice(-6)) ?? NOWHERE
}
/** A card or a column, mostly one of those that were removed last. */
function removedId(dice: Dice, known: Known): string {
  const kind = dice.oneOf<Kind>('card', 'card', 'column')
  return dice.isOneIn(8) ? idOf(kind, dice, known) : (dice.among(known.ids[kind].slice(0, 3)) ?? NOWHERE)
}
const person = (dice: Dice, { people }: Known) => dice.among(people) ?? NOWHERE
const people = (dice: Dice, known: Known) => Array.from({ length: dice.roll(4) }, () => person(dice, known))
/** Few different texts, so that some writes change nothing. */
const text = (dice: Dice) => dice.oneOf('Paint', 'Build', 'Draw', '🦊 <b>', ' spaced ', 'e\u0301')
/** A client-generated id: mostly new, sometimes one that exists or existed. */
const ownId = (kind: Kind, dice: Dice, known: Known) =>
  dice.isOneIn(4) ? { id: (dice.isOneIn(3) && dice.among(known.ids[kind])) || randomUUID() } : {}

/** A position, an anchor, or both. The anchor may be deleted or in another list. */
function place(kind: Kind, dice: Dice, known: Known) {
  const at = { position: dice.roll(4) }
  const behind = { after_id: dice.isOneIn(4) ? null : idOf(kind, dice, known) }
  return dice.oneOf<Inputs<Operations['moveColumn']>['body']>(at, behind, { ...at, ...behind })
}
const maybePlace = (kind: Kind, dice: Dice, known: Known) => (dice.isOneIn(3) ? {} : place(kind, dice, known))

type NewRule = Inputs<Operations['createRule']>['body']
type Trigger = Pick<NewRule, 'trigger_type' | 'trigger_column_id' | 'trigger_label_id'>
type Action = Pick<NewRule, 'action_type' | 'action_column_id' | 'action_user_id'>
function rule(dice: Dice, known: Known) {
  const trigger = dice.oneOf<Trigger>(
    { trigger_type: 'CARD_MOVED', trigger_column_id: idOf('column', dice, known) },
    { trigger_type: 'LABEL_ADDED', trigger_label_id: idOf('label', dice, known) },
    { trigger_type: 'CARD_CREATED' },
  )
  const action = dice.oneOf<Action>(
    { action_type: 'MOVE_TO_COLUMN', action_column_id: idOf('column', dice, known) },
    { action_type: 'ASSIGN_MEMBER', action_user_id: person(dice, known) },
  )
  return { ...trigger, ...action }
}

type Writes = { [N in WritingOperation]: (dice: Dice, known: Known) => Inputs<Operations[N]> }

/**
 * One write of each operation. A new operation of the contract must be added here.
 */
const writes: Writes = {
  updateBoard: (dice, { board_id }) => ({ params: { board_id }, body: { title: text(dice) } }),
  archiveBoard: (_, { board_id }) => ({ params: { board_id } }),
  restoreBoard: (_, { board_id }) => ({ params: { board_id } }),
  inviteMember: (dice, known) => ({ params: { board_id: known.board_id }, body: { user_id: person(dice, known) } }),
  updateMember: (dice, known) => ({
    params: { board_id: known.board_id, user_id: person(dice, known) },
    body: { role: dice.oneOf('owner', 'owner', 'member') },
  }),
  removeMember: (dice, known) => ({ params: { board_id: known.board_id, user_id: person(dice, known) } }),

  createColumn: (dice, known) => ({
    params: { board_id: known.board_id },
    body: { ...ownId('column', dice, known), title: text(dice), ...maybePlace('column', dice, known) },
  }),
  updateColumn: (dice, known) => ({
    params: { column_id: idOf('column', dice, known) },
    body: dice.oneOf({ title: text(dice) }, { is_done_column: dice.isOneIn(2) }, { color: text(dice) }),
  }),
  deleteColumn: (dice, known) => ({ params: { column_id: idOf('column', dice, known) } }),
  archiveColumn: (dice, known) => ({ params: { column_id: idOf('column', dice, known) } }),
  moveColumn: (dice, known) => ({
    params: { column_id: idOf('column', dice, known) },
    body: place('column', dice, known),
  }),

  createCard: (dice, known) => ({
    params: { board_id: known.board_id, column_id: idOf('column', dice, known) },
    body: { ...ownId('card', dice, known), title: text(dice), ...maybePlace('card', dice, known) },
  }),
  updateCard: (dice, known) => ({
    params: { card_id: idOf('card', dice, known) },
    body: dice.oneOf(
      { title: text(dice) },
      { description: text(dice) },
      { description: null },
      { due_on: dice.oneOf('2026-11-20', '2027-02-28', null) },
    ),
  }),
  deleteCard: (dice, known) => ({ params: { card_id: idOf('card', dice, known) } }),
  archiveCard: (dice, known) => ({ params: { card_id: idOf('card', dice, known) } }),
  moveCard: (dice, known) => ({
    params: { card_id: idOf('card', dice, known) },
    body: {
      ...(dice.isOneIn(3) ? {} : { column_id: idOf('column', dice, known) }),
      ...maybePlace('card', dice, known),
    },
  }),
  assignCard: (dice, known) => ({
    params: { card_id: idOf('card', dice, known) },
    body: { user_ids: people(dice, known) },
  }),
  unassignCard: (dice, known) => ({ params: { card_id: idOf('card', dice, known), user_id: person(dice, known) } }),
  addCardLabel: (dice, known) => ({
    params: { card_id: idOf('card', dice, known), label_id: idOf('label', dice, known) },
  }),
  removeCardLabel: (dice, known) => ({
    params: { card_id: idOf('card', dice, known), label_id: idOf('label', dice, known) },
  }),

  createAttachment: (dice, known) => ({
    params: { card_id: idOf('card', dice, known) },
    body: { ...ownId('attachment', dice, known), file: new File([text(dice)], text(dice)) },
  }),
  deleteAttachment: (dice, known) => ({ params: { attachment_id: idOf('attachment', dice, known) } }),

  restoreRemoved: (dice, known) => ({
    params: { board_id: known.board_id, removed_id: removedId(dice, known) },
    body: {
      ...(dice.isOneIn(2) ? {} : { column_id: idOf('column', dice, known) }),
      ...(dice.isOneIn(2) ? {} : place('card', dice, known)),
    },
  }),
  purgeRemoved: (dice, known) => ({ params: { board_id: known.board_id, removed_id: removedId(dice, known) } }),

  createLabel: (dice, known) => ({
    params: { board_id: known.board_id },
    body: { ...ownId('label', dice, known), name: text(dice) },
  }),
  updateLabel: (dice, known) => ({
    params: { label_id: idOf('label', dice, known) },
    body: dice.oneOf({ name: text(dice) }, { color: text(dice) }),
  }),
  deleteLabel: (dice, known) => ({ params: { label_id: idOf('label', dice, known) } }),

  createChecklist: (dice, known) => ({
    params: { card_id: idOf('card', dice, known) },
    body: { ...ownId('checklist', dice, known), title: text(dice) },
  }),
  updateChecklist: (dice, known) => ({
    params: { checklist_id: idOf('checklist', dice, known) },
    body: { title: text(dice) },
  }),
  deleteChecklist: (dice, known) => ({ params: { checklist_id: idOf('checklist', dice, known) } }),
  moveChecklist: (dice, known) => ({
    params: { checklist_id: idOf('checklist', dice, known) },
    body: place('checklist', dice, known),
  }),

  createItem: (dice, known) => ({
    params: { checklist_id: idOf('checklist', dice, known) },
    body: { ...ownId('item', dice, known), content: text(dice) },
  }),
  updateItem: (dice, known) => ({
    params: { item_id: idOf('item', dice, known) },
    body: dice.oneOf({ content: text(dice) }, { is_done: dice.isOneIn(2) }),
  }),
  deleteItem: (dice, known) => ({ params: { item_id: idOf('item', dice, known) } }),
  moveItem: (dice, known) => ({
    params: { item_id: idOf('item', dice, known) },
    body: {
      ...(dice.isOneIn(2) ? {} : { checklist_id: idOf('checklist', dice, known) }),
      ...maybePlace('item', dice, known),
    },
  }),
  assignItem: (dice, known) => ({
    params: { item_id: idOf('item', dice, known) },
    body: { user_ids: people(dice, known) },
  }),
  unassignItem: (dice, known) => ({ params: { item_id: idOf('item', dice, known), user_id: person(dice, known) } }),

  createComment: (dice, known) => ({
    params: { card_id: idOf('card', dice, known) },
    body: { ...ownId('comment', dice, known), body: `${text(dice)} @[Somebody](user:${person(dice, known)})` },
  }),
  updateComment: (dice, known) => ({
    params: { comment_id: idOf('comment', dice, known) },
    body: { body: text(dice) },
  }),
  deleteComment: (dice, known) => ({ params: { comment_id: idOf('comment', dice, known) } }),

  createRule: (dice, known) => ({
    params: { board_id: known.board_id },
    body: { ...ownId('rule', dice, known), name: text(dice), ...rule(dice, known) },
  }),
  updateRule: (dice, known) => ({
    params: { rule_id: idOf('rule', dice, known) },
    body: dice.oneOf<Inputs<Operations['updateRule']>['body']>(
      { is_enabled: dice.isOneIn(2) },
      { name: text(dice) },
      rule(dice, known),
    ),
  }),
  deleteRule: (dice, known) => ({ params: { rule_id: idOf('rule', dice, known) } }),
}
const isWriting = (name: string): name is WritingOperation =>
  (operations as Record<string, Operation>)[name]?.emits !== undefined && !/^(create|delete)Board$/.test(name)
export const writeNames = Object.keys(operations).filter(isWriting)

/** The inputs of one write. Throws for an operation without a generator, which fails the test of all operations. */
export function inputsOf(name: WritingOperation, dice: Dice, known: Known): object {
  const make = writes[name]
  if (!make) throw new Error(`${name} changes boards, and nothing makes inputs for it: add it to tests/fold/writes.ts`)
  return make(dice, known)
}

/** Weights of the operations; 5 by default. Boards must grow faster than they shrink. */
const weights: Partial<Record<WritingOperation, number>> = {
  createColumn: 8,
  createCard: 25,
  moveCard: 20,
  assignCard: 10,
  addCardLabel: 12,
  createLabel: 8,
  createChecklist: 12,
  createItem: 15,
  moveItem: 12,
  assignItem: 10,
  inviteMember: 15,
  createComment: 15,
  createRule: 12,
  updateRule: 8,
  deleteColumn: 1,
  deleteCard: 2,
  deleteChecklist: 2,
  deleteLabel: 2,
  deleteItem: 3,
  deleteComment: 3,
  deleteRule: 2,
  removeMember: 2,
  archiveBoard: 1,
  restoreBoard: 3,
  archiveColumn: 2,
  archiveCard: 6,
  restoreRemoved: 15,
  purgeRemoved: 2,
}
export const weightOf = (name: WritingOperation) => weights[name] ?? 5

/** The resource that an operation creates or deletes; undefined for others. */
export function objectOf(name: WritingOperation, verb: 'create' | 'delete'): Kind | undefined {
  const { effect } = operations[name]
  return effect.verb === verb ? kinds.find((kind) => kind === effect.on) : undefined
}

/** The kinds of events that an operation may emit. */
export const emitsOf = (name: WritingOperation): readonly string[] => operations[name].emits
