import { randomBytes } from 'node:crypto'
import { type LoadRequest, UNIQUE_NUMBER } from '@lockstep/testing/load/http-load'
import { CARDS, COLUMNS, cardOf, columnOf, idOf, itemOf, LABELS, labelOf, USERS } from '@lockstep/testing/load/seed'

/** A write: as an HTTP request, and as a call of the function that does the same work. */
interface Write {
  user: number
  request: Omit<LoadRequest, 'status'>
  /** The name of the function, and its arguments after the user. */
  call: [name: string, ...values: unknown[]]
}
interface WriteOperation {
  name: string
  status: number
  /** Write number `nth`. Each of the first `MAX_CYCLES` on a board changes something. */
  write: (nth: number, boards: number) => Write
}

/** A typical description of about 1,150 bytes. */
const DESCRIPTION = 'What is to be done, why, and how one sees that it is. '.repeat(21).trim()
const TITLE = 'A card of the benchmark'
const COMMENT = 'I tried it, and it works as described. '.repeat(4).trim()
/** Cards of a board that are moved and labelled: all except the first of each column. */
const MOVABLE = CARDS - COLUMNS
/** Writes to a board after which a card would get a label that it already has. */
const MAX_CYCLES = MOVABLE * (LABELS - 2)

const boardOf = (nth: number, boards: number) => 1 + (nth % boards)
const cycleOf = (nth: number, boards: number) => Math.floor(nth / boards)
/** Another user for each write to the same card. The first write of a user to a board costs the service most. */
const userOf = (nth: number, boards: number) => 1 + ((nth + Math.floor(cycleOf(nth, boards) / MOVABLE)) % USERS)
const json = (method: string, path: string, body?: object): Omit<LoadRequest, 'status'> => ({
  method,
  path,
  ...(body && { body: JSON.stringify(body) }),
})
/** A new id that increases with time, like the UUIDv7 of the service. */
function newId() {
  const time = Date.now().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${randomBytes(6).toString('hex')}`
}

export const operations = {
  create: {
    name: 'create card',
    status: 201,
    write: (nth, boards) => {
      const board = boardOf(nth, boards)
      const [boardId, columnId] = [
        idOf('board', board),
        idOf('column', columnOf(board, 1 + (cycleOf(nth, boards) % COLUMNS))),
      ]
      return {
        user: 1 + (nth % USERS),
        request: json('POST', `/boards/${boardId}/columns/${columnId}/cards`, {
          title: TITLE,
          description: DESCRIPTION,
        }),
        call: ['bare_create_card', boardId, columnId, newId(), TITLE, DESCRIPTION],
      }
    },
  },
  move: {
    name: 'move card',
    status: 200,
    write: (nth, boards) => {
      const [board, cycle] = [boardOf(nth, boards), cycleOf(nth, boards)]
      const card = idOf('card', cardOf(board, 1 + COLUMNS + (cycle % MOVABLE)))
      // To another column each time.
      const to = 1 + ((cycle + Math.floor(cycle / MOVABLE) + 1) % COLUMNS)
      const column_id = idOf('column', columnOf(board, to))
      return {
        user: userOf(nth, boards),
        request: json('POST', `/cards/${card}/move`, { column_id, position: 0 }),
        call: ['bare_move_card', card, column_id],
      }
    },
  },
  patch: {
    name: 'patch card',
    status: 200,
    write: (nth, boards) => {
      const card = idOf('card', cardOf(boardOf(nth, boards), 1 + (cycleOf(nth, boards) % CARDS)))
      return {
        user: userOf(nth, boards),
        request: json('PATCH', `/cards/${card}`, { title: `Title ${UNIQUE_NUMBER}` }),
        call: ['bare_patch_card', card, `Title ${randomBytes(4).toString('hex')}`],
      }
    },
  },
  label: {
    name: 'add label',
    status: 200,
    write: (nth, boards) => {
      const [board, cycle] = [boardOf(nth, boards), cycleOf(nth, boards)]
      const card = 1 + COLUMNS + (cycle % MOVABLE)
      const label = 1 + ((card + 2 + (Math.floor(cycle / MOVABLE) % (LABELS - 2))) % LABELS)
      const [cardId, labelId] = [idOf('card', cardOf(board, card)), idOf('label', labelOf(board, label))]
      return {
        user: userOf(nth, boards),
        request: json('POST', `/cards/${cardId}/labels/${labelId}`),
        call: ['bare_add_label', cardId, labelId],
      }
    },
  },
  assign: {
    name: 'assign member',
    status: 200,
    write: (nth, boards) => {
      const cycle = cycleOf(nth, boards)
      const card = 1 + (cycle % CARDS)
      // The card has its first assignee from the start.
      const assignee = idOf('user', 1 + ((card + 1 + Math.floor(cycle / CARDS)) % USERS))
      const cardId = idOf('card', cardOf(boardOf(nth, boards), card))
      return {
        user: userOf(nth, boards),
        request: json('PUT', `/cards/${cardId}/assignees`, { user_ids: [assignee] }),
        call: ['bare_assign_card', cardId, assignee],
      }
    },
  },
  comment: {
    name: 'add comment',
    status: 201,
    write: (nth, boards) => {
      const card = idOf('card', cardOf(boardOf(nth, boards), 1 + (cycleOf(nth, boards) % CARDS)))
      return {
        user: userOf(nth, boards),
        request: json('POST', `/cards/${card}/comments`, { body: COMMENT }),
        call: ['bare_add_comment', card, newId(), COMMENT],
      }
    },
  },
  tick: {
    name: 'tick checklist item',
    status: 200,
    write: (nth, boards) => {
      const cycle = cycleOf(nth, boards)
      const card = cardOf(boardOf(nth, boards), 1 + (cycle % CARDS))
      const item = idOf('item', itemOf(card, 1))
      const is_done = Math.floor(cycle / CARDS) % 2 === 0
      return {
        user: userOf(nth, boards),
        request: json('PATCH', `/items/${item}`, { is_done }),
        call: ['bare_tick_item', item, is_done],
      }
    },
  },
} satisfies Record<string, WriteOperation>

export type OperationKey = keyof typeof operations

/** The requests of an operation. `tokens` are by user number. */
export const loadRequests = (
  key: OperationKey,
  { boards, tokens, count = boards * MAX_CYCLES }: { boards: number; tokens: string[]; count?: number },
) =>
  Array.from({ length: count }, (_, nth): LoadRequest => {
    const { user, request } = operations[key].write(nth, boards)
    return { ...request, status: operations[key].status, token: tokens[user] as string }
  })
