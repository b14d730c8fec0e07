import { MARK, type Sending } from './load.ts'
import { CARDS, COLUMNS, cardOf, columnOf, idIn, idOf, LABELS, labelOf, USERS } from './seed.ts'

/** One kind of write: as a request, as a call of the bare function, and how pgbench chooses what to write to. */
export interface WriteOperation {
  name: string
  status: number
  /** The request number `nth`, if there are so many boards. Each changes something, in whatever order they are sent. */
  request: (nth: number, boards: number) => { user: number; sending: Sending }
  /** Numbers for pgbench: `user`, and what else the statements ask for. `:boards` is how many there are. */
  choose: string
  /** The same work as one call. */
  call: string
}

/** About 1,150 bytes, as people write them. */
export const DESCRIPTION = 'What is to be done, why, and how one sees that it is. '.repeat(21).trim()
export const TITLE = 'A card of the benchmark'
/** Cards that move and get labels; the others stay. */
const MOVING = CARDS - COLUMNS

const userOf = (nth: number) => 1 + (nth % USERS)
const boardOf = (nth: number, boards: number) => 1 + (nth % boards)
const turnOf = (nth: number, boards: number) => Math.floor(nth / boards)
const json = (method: string, path: string, body?: object): Sending => ({
  method,
  path,
  ...(body && { body: JSON.stringify(body) }),
})

/** How many requests there are before a card would get a label that it has. */
export const labelsLeft = (boards: number) => boards * MOVING * (LABELS - 2)
const CHOOSE = '\\set user random(1, 10)\n\\set board random(1, :boards)\n'
const CHOOSE_CARD = `${CHOOSE}\\set card :board * 100000 + random(${COLUMNS + 1}, ${CARDS})\n`

export const operations = {
  create: {
    name: 'create card',
    status: 201,
    request: (nth, boards) => {
      const board = boardOf(nth, boards)
      const column = columnOf(board, 1 + (turnOf(nth, boards) % COLUMNS))
      const path = `/boards/${idOf('board', board)}/columns/${idOf('column', column)}/cards`
      return { user: userOf(nth), sending: json('POST', path, { title: TITLE, description: DESCRIPTION }) }
    },
    choose: `${CHOOSE}\\set column :board * 10 + random(1, ${COLUMNS})\n`,
    call: `bare_create_card(${idIn('user', ':user')}, ${idIn('board', ':board')}, ${idIn('column', ':column')}, NEW_ID, :title, :description)`,
  },
  move: {
    name: 'move card',
    status: 200,
    request: (nth, boards) => {
      const [board, turn] = [boardOf(nth, boards), turnOf(nth, boards)]
      const card = cardOf(board, 1 + COLUMNS + (turn % MOVING))
      // To the next column each time it is this card's turn.
      const column = columnOf(board, 1 + ((turn + Math.floor(turn / MOVING)) % COLUMNS))
      const body = { column_id: idOf('column', column), position: 0 }
      return { user: userOf(nth), sending: json('POST', `/cards/${idOf('card', card)}/move`, body) }
    },
    choose: `${CHOOSE_CARD}\\set column :board * 10 + random(1, ${COLUMNS})\n`,
    call: `bare_move_card(${idIn('user', ':user')}, ${idIn('card', ':card')}, ${idIn('column', ':column')})`,
  },
  patch: {
    name: 'patch card',
    status: 200,
    request: (nth, boards) => {
      const card = cardOf(boardOf(nth, boards), 1 + (turnOf(nth, boards) % CARDS))
      return { user: userOf(nth), sending: json('PATCH', `/cards/${idOf('card', card)}`, { title: `Title ${MARK}` }) }
    },
    choose: `${CHOOSE_CARD}\\set number random(10000000, 99999999)\n`,
    call: `bare_patch_card(${idIn('user', ':user')}, ${idIn('card', ':card')}, 'Title ' || :number)`,
  },
  label: {
    name: 'add label',
    status: 200,
    request: (nth, boards) => {
      const [board, turn] = [boardOf(nth, boards), turnOf(nth, boards)]
      const card = 1 + COLUMNS + (turn % MOVING)
      const label = 1 + ((card + 2 + (Math.floor(turn / MOVING) % (LABELS - 2))) % LABELS)
      const path = `/cards/${idOf('card', cardOf(board, card))}/labels/${idOf('label', labelOf(board, label))}`
      return { user: userOf(nth), sending: json('POST', path) }
    },
    // The same order of cards and labels; each client has every so manieth of them.
    choose: `\\set nth :done * :clients + :client_id
\\set done :done + 1
\\set user random(1, 10)
\\set board 1 + :nth % :boards
\\set turn :nth / :boards
\\set which 1 + ${COLUMNS} + :turn % ${MOVING}
\\set card :board * 100000 + :which
\\set label :board * 100 + 1 + (:which + 2 + (:turn / ${MOVING}) % ${LABELS - 2}) % ${LABELS}
`,
    call: `bare_add_label(${idIn('user', ':user')}, ${idIn('card', ':card')}, ${idIn('label', ':label')})`,
  },
} satisfies Record<string, WriteOperation>

export type OperationKey = keyof typeof operations

/** An id that nobody had before and that grows with time, as the service makes them. */
export const NEW_ID = `(lpad(to_hex(:base::int8 + :made::int8), 12, '0') || '70008000' || lpad(:run, 8, '0') || lpad(:client_id, 4, '0'))::uuid`
export const COUNT_IDS = '\\set made :made + 1\n'
