import { makeTokens, pathOf } from '@lockstep/testing/load/environment'
import { type LoadRequest, UNIQUE_NUMBER } from '@lockstep/testing/load/http-load'
import { CARDS, COLUMNS, cardOf, columnOf, idIn, idOf, seedBoards, seedUsers, USERS } from '@lockstep/testing/load/seed'
import { seeded } from '@lockstep/testing/random'
import type pg from 'pg'

/** Number of prebuilt requests. They are sent again and again in this order. */
const REQUESTS = 20_000
const HEADERS = 'Accept-Encoding: gzip\r\n'

/** A list of mixed requests to seeded boards, and sockets that watch some of the boards. */
export interface Workload {
  requests: LoadRequest[]
  /** The paths of the sockets: `watchers` on each of the first `watched` boards. */
  sockets: string[]
  boards: number
}

export interface WorkloadSize {
  boards: number
  cards?: number
  watched: number
  watchers: number
}

/** Seeds an empty database and builds the requests: half of them reads, most of the others moves. */
export async function seedWorkload(
  sql: pg.Pool,
  { boards, cards = CARDS, watched, watchers }: WorkloadSize,
): Promise<Workload> {
  await seedUsers(sql, 1, USERS)
  await seedBoards(sql, { from: 1, to: boards, cards })
  await sql.query('analyze')
  const tokens = await makeTokens(Array.from({ length: USERS }, (_, i) => idOf('user', i + 1)))
  const { below } = seeded(7)
  const nextRequest = (): LoadRequest => {
    const board = 1 + below(boards)
    const common = { token: tokens[below(USERS)] as string, headers: HEADERS, status: 200 }
    const card = idOf('card', cardOf(board, 1 + below(cards)))
    const column = idOf('column', columnOf(board, 1 + below(COLUMNS)))
    const kind = below(20)
    if (kind < 10) return { ...common, method: 'GET', path: `/boards/${idOf('board', board)}` }
    if (kind < 17) {
      const body = JSON.stringify({ column_id: column, position: below(5) })
      return { ...common, method: 'POST', path: `/cards/${card}/move`, body, board }
    }
    if (kind < 19) {
      // Each title is new: a change to the same title appends no event.
      const body = JSON.stringify({ title: `Card ${UNIQUE_NUMBER}`, description: 'What is to be done. '.repeat(10) })
      return { ...common, method: 'PATCH', path: `/cards/${card}`, body, board }
    }
    const path = `/boards/${idOf('board', board)}/columns/${column}/cards`
    return { ...common, method: 'POST', path, body: '{"title":"One more"}', status: 201, board }
  }
  const sockets = Array.from({ length: watched * watchers }, (_, i) =>
    pathOf(idOf('board', 1 + (i % watched)), tokens[i % USERS] as string),
  )
  return { requests: Array.from({ length: REQUESTS }, nextRequest), sockets, boards }
}

/** The event numbers in the log, by board number. */
export async function readLog(sql: pg.Pool, boards: number): Promise<Set<number>[]> {
  const { rows } = await sql.query<{ seqs: number[] }>(
    `select array(select seq::int from board_events where board_id = ${idIn('board', 'n')}) as seqs
    from generate_series(1, $1::int) n order by n`,
    [boards],
  )
  return rows.map(({ seqs }) => new Set(seqs))
}
