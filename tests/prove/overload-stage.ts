import { JWT_SECRET, pathOf } from '@lockstep/testing/load/environment'
import { CARDS, COLUMNS, cardOf, columnOf, idIn, idOf, seedBoards, seedUsers, USERS } from '@lockstep/testing/load/seed'
import { Worker } from '@lockstep/testing/load/worker'
import type pg from 'pg'
import { Tokens } from '../../packages/server/src/security/tokens.ts'
import type { Order, Outcome, Sending, Window } from './overload-load.ts'

/** Requests that are made before, and sent again and again in this order. */
const REQUESTS = 20_000
const BLANK = '########'

/** Boards with people, and the requests that they send. */
export interface Crowd {
  requests: Sending[]
  /** The paths of sockets, `watchers` on each of the first `watched` boards. */
  sockets: string[]
  boards: number
}

export interface CrowdSize {
  boards: number
  cards?: number
  watched: number
  watchers: number
}

/** The boards of this crowd are the database's only ones. */
export async function makeCrowd(
  sql: pg.Pool,
  { boards, cards = CARDS, watched, watchers }: CrowdSize,
  secret = JWT_SECRET,
): Promise<Crowd> {
  await seedUsers(sql, 1, USERS)
  await seedBoards(sql, { from: 1, to: boards, cards })
  await sql.query('analyze')
  const issuer = new Tokens({ secret, algorithm: 'HS256', lifetimeSeconds: 7_200 })
  const at = Math.floor(Date.now() / 1_000) - 1
  const tokens = await Promise.all(Array.from({ length: USERS }, (_, i) => issuer.issue(idOf('user', i + 1), at)))
  const random = dice(7)
  const one = (): Sending => {
    const board = 1 + random(boards)
    const token = tokens[random(USERS)] as string
    const card = idOf('card', cardOf(board, 1 + random(cards)))
    const column = idOf('column', columnOf(board, 1 + random(COLUMNS)))
    const kind = random(20)
    if (kind < 10) return { method: 'GET', path: `/boards/${idOf('board', board)}`, token, status: 200 }
    if (kind < 17) {
      const body = JSON.stringify({ column_id: column, position: random(5) })
      return { method: 'POST', path: `/cards/${card}/move`, token, body, status: 200, changes: board }
    }
    if (kind < 19) {
      const body = JSON.stringify({ title: `Card ${BLANK}`, description: 'What is to be done. '.repeat(10) })
      return { method: 'PATCH', path: `/cards/${card}`, token, body, blank: BLANK, status: 200, changes: board }
    }
    const path = `/boards/${idOf('board', board)}/columns/${column}/cards`
    return { method: 'POST', path, token, body: '{"title":"One more"}', status: 201, changes: board }
  }
  const seats = Array.from({ length: watched * watchers }, (_, i) => ({ board: 1 + (i % watched), user: i % USERS }))
  return {
    requests: Array.from({ length: REQUESTS }, one),
    sockets: seats.map(({ board, user }) => pathOf(idOf('board', board), tokens[user] as string)),
    boards,
  }
}

/** The numbers of the events that are in the log, by the number of the board. */
export async function readLog(sql: pg.Pool, boards: number): Promise<Set<number>[]> {
  const { rows } = await sql.query<{ seqs: number[] }>(
    `select array(select seq::int from board_events where board_id = ${idIn('board', 'n')}) as seqs
    from generate_series(1, $1::int) n order by n`,
    [boards],
  )
  return rows.map(({ seqs }) => new Set(seqs))
}

/** Everybody who asks, in a process of his own. */
export class Askers {
  private readonly worker = new Worker<Order>(new URL('overload-load.ts', import.meta.url))

  get pid(): number {
    return this.worker.pid
  }

  prepare = (requests: Sending[]) => this.worker.ask({ do: 'prepare', requests })
  run = (window: Window) => this.worker.ask({ do: 'run', window }) as Promise<Outcome>

  end = () => this.worker.end()
}

/** Numbers below a bound, the same in every run. */
function dice(seed: number) {
  let state = seed
  return (bound: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}
