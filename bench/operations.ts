import { type LoadRequest, UNIQUE_NUMBER } from '@lockstep/testing/load/http-load'
import { CARDS, COLUMNS, cardOf, columnOf, idIn, idOf, LABELS, labelOf, USERS } from '@lockstep/testing/load/seed'

/** A kind of write: as an HTTP request, and as a call of the bare function in pgbench. */
export interface WriteOperation {
  name: string
  status: number
  /** Request number `nth`. Each request changes something, in any order. */
  request: (nth: number, boards: number) => { user: number; request: Omit<LoadRequest, 'status'> }
  /** The pgbench commands that set `user` and the other numbers of the target, out of `:boards` boards. */
  variables: string
  /** The call of the function that does the same work. */
  call: string
}

/** A typical description of about 1,150 bytes. */
export const DESCRIPTION = 'What is to be done, why, and how one sees that it is. '.repeat(21).trim()
export const TITLE = 'A card of the benchmark'
/** Cards of a board that are moved and labelled: all except the first of each column. */
const MOVABLE = CARDS - COLUMNS

const userOf = (nth: number) => 1 + (nth % USERS)
const boardOf = (nth: number, boards: number) => 1 + (nth % boards)
const cycleOf = (nth: number, boards: number) => Math.floor(nth / boards)
const json = (method: string, path: string, body?: object): Omit<LoadRequest, 'status'> => ({
  method,
  path,
  ...(body && { body: JSON.stringify(body) }),
})

/** The number of label requests after which a card would get a label that it already has. */
export const maxLabelRequests = (boards: number) => boards * MOVABLE * (LABELS - 2)
const CHOOSE_BOARD = '\\set user random(1, 10)\n\\set board random(1, :boards)\n'
const CHOOSE_CARD = `${CHOOSE_BOARD}\\set card :board * 100000 + random(${COLUMNS + 1}, ${CARDS})\n`

export const operations = {
  create: {
    name: 'create card',
    status: 201,
    request: (nth, boards) => {
      const board = boardOf(nth, boards)
      const column = columnOf(board, 1 + (cycleOf(nth, boards) % COLUMNS))
      const path = `/boards/${idOf('board', board)}/columns/${idOf('column', column)}/cards`
      return { user: userOf(nth), request: json('POST', path, { title: TITLE, description: DESCRIPTION }) }
    },
    variables: `${CHOOSE_BOARD}\\set column :board * 10 + random(1, ${COLUMNS})\n`,
    call: `bare_create_card(${idIn('user', ':user')}, ${idIn('board', ':board')}, ${idIn('column', ':column')}, NEW_ID, :title, :description)`,
  },
  move: {
    name: 'move card',
    status: 200,
    request: (nth, boards) => {
      const [board, cycle] = [boardOf(nth, boards), cycleOf(nth, boards)]
      const card = cardOf(board, 1 + COLUMNS + (cycle % MOVABLE))
      // To another column each time.
      const column = columnOf(board, 1 + ((cycle + Math.floor(cycle / MOVABLE)) % COLUMNS))
      const body = { column_id: idOf('column', column), position: 0 }
      return { user: userOf(nth), request: json('POST', `/cards/${idOf('card', card)}/move`, body) }
    },
    variables: `${CHOOSE_CARD}\\set column :board * 10 + random(1, ${COLUMNS})\n`,
    call: `bare_move_card(${idIn('user', ':user')}, ${idIn('card', ':card')}, ${idIn('column', ':column')})`,
  },
  patch: {
    name: 'patch card',
    status: 200,
    request: (nth, boards) => {
      const card = cardOf(boardOf(nth, boards), 1 + (cycleOf(nth, boards) % CARDS))
      return {
        user: userOf(nth),
        request: json('PATCH', `/cards/${idOf('card', card)}`, { title: `Title ${UNIQUE_NUMBER}` }),
      }
    },
    variables: `${CHOOSE_CARD}\\set number random(10000000, 99999999)\n`,
    call: `bare_patch_card(${idIn('user', ':user')}, ${idIn('card', ':card')}, 'Title ' || :number)`,
  },
  label: {
    name: 'add label',
    status: 200,
    request: (nth, boards) => {
      const [board, cycle] = [boardOf(nth, boards), cycleOf(nth, boards)]
      const card = 1 + COLUMNS + (cycle % MOVABLE)
      const label = 1 + ((card + 2 + (Math.floor(cycle / MOVABLE) % (LABELS - 2))) % LABELS)
      const path = `/cards/${idOf('card', cardOf(board, card))}/labels/${idOf('label', labelOf(board, label))}`
      return { user: userOf(nth), request: json('POST', path) }
    },
    // In the same order of cards and labels; the clients take requests alternately.
    variables: `\\set nth :done * :clients + :client_id
\\set done :done + 1
\\set user random(1, 10)
\\set board 1 + :nth % :boards
\\set cycle :nth / :boards
\\set which 1 + ${COLUMNS} + :cycle % ${MOVABLE}
\\set card :board * 100000 + :which
\\set label :board * 100 + 1 + (:which + 2 + (:cycle / ${MOVABLE}) % ${LABELS - 2}) % ${LABELS}
`,
    call: `bare_add_label(${idIn('user', ':user')}, ${idIn('card', ':card')}, ${idIn('label', ':label')})`,
  },
} satisfies Record<string, WriteOperation>

export type OperationKey = keyof typeof operations

/** The first `count` requests of an operation. `tokens` are by user number. */
export const loadRequests = (
  key: OperationKey,
  { count, boards, tokens }: { count: number; boards: number; tokens: string[] },
) =>
  Array.from({ length: count }, (_, nth): LoadRequest => {
    const { user, request } = operations[key].request(nth, boards)
    return { ...request, status: operations[key].status, token: tokens[user] as string }
  })

/** A new id that increases with time, like the UUIDv7 of the service. */
export const NEW_ID = `(lpad(to_hex(:base::int8 + :made::int8), 12, '0') || '70008000' || lpad(:run, 8, '0') || lpad(:client_id, 4, '0'))::uuid`
export const COUNT_IDS = '\\set made :made + 1\n'
