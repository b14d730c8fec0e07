import { gunzipSync } from 'node:zlib'
import type pg from 'pg'
import { BoardCache } from '../../packages/server/src/boards/board-cache.ts'
import { readBoardVersion, readFullBoard } from '../../packages/server/src/boards/board-queries.ts'
import { Database } from '../../packages/server/src/database/database.ts'
import { seeded } from '../rig/history.ts'
import { Asker, quantiles, type Reply, type Times } from './asking.ts'
import { makeLargeBoard } from './large-board.ts'
import type { Audience } from './realtime-stage.ts'

/** Rounds before anything counts, and loads before them: statements are prepared, plans are made, code is compiled. */
const WARMING_UP = 5
/** A board is loaded more often than it changes. */
const LOADS_AGAIN = 5
const FIRST_LOADS = 200

export interface LoadTimes {
  bytes: number
  packed_bytes: number
  /** Milliseconds: a load after a change, one of a board that did not change, and one that the client has already. */
  built: Times
  unchanged: Times
  known: Times
  /** The statement that reads the board, on a connection of its own; and a read of nothing but the caller. */
  statement: Times
  caller: Times
  /** Whether each load after a change showed it, and was the same when it was loaded again. */
  isFresh: boolean
  /** Whether a member's new name was there on the next load, each time. */
  isNameFresh: boolean
}

/** Loads a large board after a change, without one, and with its ETag, by turns. */
export async function loadByTurns(
  { base_url }: { base_url: string },
  database_url: string,
  sql: pg.Pool,
  { ids, tokens }: Audience,
  { cards, rounds }: { cards: number; rounds: number },
): Promise<LoadTimes> {
  const board_id = await makeLargeBoard(sql, ids, cards)
  await sql.query('analyze')
  const { rows } = await sql.query<{ id: string }>('select id from cards where board_id = $1 limit 1', [board_id])
  const asker = new Asker(base_url, tokens[0] as string)
  const bare = new Database({ url: database_url, size: 1, onError: () => {} })
  const load = (headers: Record<string, string> = {}) =>
    asker.ask('GET', `/boards/${board_id}`, { 'accept-encoding': 'gzip', ...headers })
  const times = { built: [], unchanged: [], known: [], statement: [], caller: [] } as Record<string, number[]>
  const found = { bytes: 0, packed_bytes: 0, isFresh: true, isNameFresh: true }
  try {
    for (let i = 0; i < FIRST_LOADS; i++) await load()
    for (let round = -WARMING_UP; round < rounds; round++) {
      const title = `Round ${round}`
      await asker.json('PATCH', `/cards/${rows[0]?.id}`, { title })
      const built = await load()
      const again = { unchanged: [] as Reply[], known: [] as Reply[], caller: [] as Reply[] }
      for (let i = 0; i < LOADS_AGAIN; i++) {
        again.unchanged.push(await load())
        again.known.push(await load({ 'if-none-match': String(built.headers.etag) }))
        again.caller.push(await asker.ask('GET', '/auth/me'))
      }
      const begun = performance.now()
      await readFullBoard(bare, board_id)
      const statement = { ms: performance.now() - begun }
      const text = gunzipSync(built.bytes)
      found.bytes = text.length
      found.packed_bytes = built.bytes.length
      const isSame = again.unchanged.every(({ bytes }) => bytes.equals(built.bytes))
      found.isFresh &&= text.includes(`"${title}"`) && isSame && again.known.every(({ status }) => status === 304)
      if (round % 10 === 0) {
        await sql.query('update users set firstname = $1 where id = $2', [`Name ${round}`, ids.at(-1)])
        const next = await load({ 'if-none-match': String(built.headers.etag) })
        found.isNameFresh &&= next.status === 200 && gunzipSync(next.bytes).includes(`"Name ${round}"`)
      }
      if (round < 0) continue
      for (const [name, all] of Object.entries({ built: [built], statement: [statement], ...again }))
        times[name]?.push(...all.map(({ ms }) => ms))
    }
  } finally {
    await bare.close()
    asker.close()
  }
  const of = (name: string) => quantiles(times[name] ?? [])
  return {
    ...found,
    built: of('built'),
    unchanged: of('unchanged'),
    known: of('known'),
    statement: of('statement'),
    caller: of('caller'),
  }
}

export interface CacheUse {
  most_bytes: number
  reads: number
  builds: number
  /** All boards together, as they would be kept. */
  all_bytes: number
  /** Loads that were older than the version that was asked for. */
  stale: number
}

/** Boards of different sizes, read at random by many at once, while they change, from a cache that cannot hold them all. */
export async function readAtRandom(
  database_url: string,
  sql: pg.Pool,
  { ids }: Audience,
  size: { boards: number; readers: number; reads: number; bound_bytes: number; seed: number },
): Promise<CacheUse> {
  const random = seeded(size.seed)
  const boards: string[] = []
  for (let i = 0; i < size.boards; i++) boards.push(await makeLargeBoard(sql, ids, Math.floor(100 ** random.next())))
  const database = new Database({ url: database_url, size: 4, onError: () => {} })
  const cache = new BoardCache(size.bound_bytes, 5)
  const found: CacheUse = { most_bytes: 0, reads: 0, builds: 0, all_bytes: 0, stale: 0 }
  const db: typeof database = Object.create(database, {
    run: {
      value: (statement: { name: string }, args: never) => {
        if (statement.name === 'read_full_board') found.builds++
        return database.run(statement as never, args)
      },
    },
  })
  const sizes = new Map<string, number>()
  const reader = async () => {
    while (found.reads < size.reads) {
      found.reads++
      // Some boards are asked for far more often than others.
      const id = boards[Math.floor(random.next() ** 3 * boards.length)] as string
      if (random.below(20) === 0)
        await sql.query('update board_stream set last_seq = last_seq + 1 where board_id = $1', [id])
      const version = await readBoardVersion(db, id)
      if (!version) throw new Error('A board is gone')
      const kept = await cache.get(db, id, version)
      found.most_bytes = Math.max(found.most_bytes, cache.sizeBytes)
      sizes.set(id, kept.bytes.length)
      const seqOf = ({ position }: { position: string }) => Number(position.split('.')[1])
      if (seqOf(kept) < seqOf(version)) found.stale++
    }
  }
  try {
    await Promise.all(Array.from({ length: size.readers }, reader))
  } finally {
    await database.close()
  }
  found.all_bytes = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)
  return found
}
