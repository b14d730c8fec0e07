import { operations } from '@lockstep/contract'
import type { Kind, RaceBoard, Write } from './race-board.ts'

/** The context of a write: the board, which of the two users sends it, and the round. */
export interface RaceContext {
  board: RaceBoard
  side: 0 | 1
  round: number
  /** An id that both users share in this round. */
  sharedId: string
}
type Operations = typeof operations
/** Every operation that changes a board. */
type WriteName = {
  [N in keyof Operations]: Operations[N] extends { emits: readonly string[] } ? N : never
}[keyof Operations]
type Make = (start: RaceContext) => Promise<Write>

const about =
  (kind: Kind, body?: (start: RaceContext) => object | Promise<object>): Make =>
  async (start) => ({
    params: { [`${kind}_id`]: await start.board.need(kind) },
    ...(body && { body: await body(start) }),
  })
const onBoard =
  (body: (start: RaceContext) => object | Promise<object>): Make =>
  async (start) => ({ params: { board_id: start.board.id }, body: await body(start) })

/** The target user: the passive member, the other racer, or the sender. */
function targetUser({ board: { users }, side, round }: RaceContext): string {
  const [self, other] = side === 0 ? users.racers : ([users.racers[1], users.racers[0]] as const)
  return [users.member, other, self][round % 3]?.id as string
}
/** Both request the same position, or the two ends. */
const place = ({ side, round }: RaceContext) => ({ position: round % 2 === 0 ? 0 : side * 5 })
/** In every fifth round both create a resource with the same id. */
export const isSharedId = (round: number) => round % 5 === 4
const ownId = ({ round, sharedId }: RaceContext) => (isSharedId(round) ? { id: sharedId } : {})
const title = ({ side, round }: RaceContext) => `Written by ${side} in ${round}`
const people = (start: RaceContext) => ({ user_ids: [start.board.users.member.id, targetUser(start)] })
const withPerson =
  (kind: Kind): Make =>
  async (start) => ({ params: { [`${kind}_id`]: await start.board.need(kind), user_id: targetUser(start) } })
/** Rounds alternate between a card and a column. */
const withRemoved =
  (body?: (start: RaceContext) => object): Make =>
  async (start) => ({
    params: {
      board_id: start.board.id,
      removed_id: await start.board.need(start.round % 2 === 0 ? 'removed_card' : 'removed_column'),
    },
    ...(body && { body: body(start) }),
  })
const withLabel: Make = async ({ board }) => ({
  params: { card_id: await board.need('card'), label_id: await board.need('label') },
})

/** One valid write for each operation that changes a board, with the same targets for both users. */
const writes: Record<WriteName, Make> = {
  createBoard: async (start) => ({ params: {}, body: { ...ownId(start), title: title(start) } }),
  updateBoard: onBoard((start) => ({ title: title(start) })),
  deleteBoard: async ({ board }) => ({ params: { board_id: board.id } }),
  archiveBoard: async ({ board }) => ({ params: { board_id: board.id } }),
  restoreBoard: async ({ board }) => ({ params: { board_id: board.id } }),
  inviteMember: onBoard(({ board }) => ({ user_id: board.users.nonMember.id })),
  updateMember: async (start) => ({
    params: { board_id: start.board.id, user_id: targetUser(start) },
    body: { role: start.round % 3 === 0 ? 'owner' : 'member' },
  }),
  removeMember: async (start) => ({ params: { board_id: start.board.id, user_id: targetUser(start) } }),

  createColumn: onBoard((start) => ({ ...ownId(start), title: title(start), ...place(start) })),
  updateColumn: about('column', (start) => ({ title: title(start) })),
  deleteColumn: about('column'),
  archiveColumn: about('column'),
  moveColumn: about('column', place),

  createCard: async (start) => ({
    params: { board_id: start.board.id, column_id: await start.board.need('column') },
    body: { ...ownId(start), title: title(start), ...place(start) },
  }),
  updateCard: about('card', (start) => ({ title: title(start) })),
  deleteCard: about('card'),
  archiveCard: about('card'),
  moveCard: about('card', async (start) => ({
    column_id: await start.board.need(start.round % 2 === 0 ? 'other_column' : 'column'),
    ...place(start),
  })),
  assignCard: about('card', people),
  unassignCard: withPerson('card'),
  addCardLabel: withLabel,
  removeCardLabel: withLabel,

  createLabel: onBoard((start) => ({ ...ownId(start), name: title(start) })),
  updateLabel: about('label', (start) => ({ name: title(start) })),
  deleteLabel: about('label'),

  createChecklist: about('card', (start) => ({ ...ownId(start), title: title(start) })),
  updateChecklist: about('checklist', (start) => ({ title: title(start) })),
  deleteChecklist: about('checklist'),
  moveChecklist: about('checklist', place),

  createItem: about('checklist', (start) => ({ ...ownId(start), content: title(start) })),
  updateItem: about('item', ({ side, round }) => ({ is_done: (side + round) % 2 === 0 })),
  deleteItem: about('item'),
  moveItem: about('item', async (start) => ({
    checklist_id: await start.board.need(start.round % 2 === 0 ? 'other_checklist' : 'checklist'),
    ...place(start),
  })),
  assignItem: about('item', people),
  unassignItem: withPerson('item'),

  createComment: about('card', (start) => ({ ...ownId(start), body: title(start) })),
  // Each changes their own: nobody else may.
  updateComment: async (start) => ({
    params: { comment_id: await start.board.need(start.side === 0 ? 'comment' : 'other_comment') },
    body: { body: title(start) },
  }),
  deleteComment: about('comment'),

  createAttachment: about('card'),
  deleteAttachment: about('attachment'),

  restoreRemoved: withRemoved((start) => (start.round % 4 < 2 ? {} : place(start))),
  purgeRemoved: withRemoved(),

  createRule: onBoard(async (start) => ({
    ...ownId(start),
    name: title(start),
    trigger_type: 'LABEL_ADDED',
    trigger_label_id: await start.board.need('label'),
    action_type: 'MOVE_TO_COLUMN',
    action_column_id: await start.board.need('column'),
  })),
  updateRule: about('rule', ({ board, round }) =>
    round % 2 === 0 ? { is_enabled: round % 4 === 0 } : { action_user_id: board.users.member.id },
  ),
  deleteRule: about('rule'),
}

/** Every operation of the contract that changes a board. */
export const writeNames = Object.keys(writes) as WriteName[]

/** All pairs, including each operation with itself. */
export const pairs = writeNames.flatMap((one, i) => writeNames.slice(i).map((two) => [one, two] as const))
export type Pair = (typeof pairs)[number]

/** A valid write of an operation. */
export const writeOf = (name: WriteName, start: RaceContext): Promise<Write> => writes[name](start)

/** The kinds of resources on the board that may not be there after a write. */
export function goneAfter(name: WriteName): Kind[] {
  if (name.endsWith('Removed')) return ['removed_card', 'removed_column']
  const { verb, on } = operations[name].effect
  return verb === 'delete' && on !== 'member' && on !== 'board' ? [on] : []
}
