import { randomUUID } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { makeLargeBoard } from '@lockstep/testing/large-board'
import type { Audience } from '@lockstep/testing/load/environment'
import { HttpClient, type HttpResponse, type Percentiles, percentilesOf } from '@lockstep/testing/load/http-client'
import { seeded } from '@lockstep/testing/random'
import type pg from 'pg'
import { BoardCache } from '../../packages/server/src/boards/board-cache.ts'
import { readBoardVersion } from '../../packages/server/src/boards/board-queries.ts'
import { Database } from '../../packages/server/src/database/database.ts'

/** Warm-up rounds and loads, to prepare statements and compile code. */
const WARM_UP_ROUNDS = 5
const WARM_UP_LOADS = 200
/** A board is loaded more often than it changes. */
const LOADS_AGAIN = 5

export interface LoadTimes {
  /** Milliseconds of a load after a changed name, for which the board is built; after a changed card; and without a change. */
  built: Percentiles
  updated: Percentiles
  unchanged: Percentiles
  /** Whether each load after a change showed it, was the same when it was repeated, and returned 304 for its ETag. */
  isFresh: boolean
  /** Whether the next load always showed a member's new name. */
  isNameFresh: boolean
}

/** Loads a large board after a change, without a change, and with its ETag, alternately. */
export async function loadByTurns(
  { baseUrl }: { baseUrl: string },
  sql: pg.Pool,
  { ids, tokens }: Audience,
  { cards, rounds }: { cards: number; rounds: number },
): Promise<LoadTimes> {
  const board_id = await makeLargeBoard(sql, ids, cards)
  await sql.query('analyze')
  const { rows } = await sql.query<{ id: string }>('select id from cards where board_id = $1 limit 1', [board_id])
  const client = new HttpClient(baseUrl, tokens[0] as string)
  const load = (headers: Record<string, string> = {}) =>
    client.request('GET', `/boards/${board_id}`, { 'accept-encoding': 'gzip', ...headers })
  const times = { built: [] as number[], updated: [] as number[], unchanged: [] as number[] }
  const found = { isFresh: true, isNameFresh: true }
  try {
    for (let i = 0; i < WARM_UP_LOADS; i++) await load()
    for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
      const title = `Round ${round}`
      await client.json('PATCH', `/cards/${rows[0]?.id}`, { title })
      const updated = await load()
      const etag = String(updated.headers.etag)
      const unchanged: HttpResponse[] = []
      for (let i = 0; i < LOADS_AGAIN; i++) {
        unchanged.push(await load())
        found.isFresh &&= (await load({ 'if-none-match': etag })).status === 304
      }
      const isSame = unchanged.every(({ bytes }) => bytes.equals(updated.bytes))
      found.isFresh &&= gunzipSync(updated.bytes).includes(`"${title}"`) && isSame
      const name = randomUUID()
      await sql.query('update users set firstname = $1 where id = $2', [name, ids.at(-1)])
      const built = await load({ 'if-none-match': etag })
      found.isNameFresh &&= built.status === 200 && gunzipSync(built.bytes).includes(`"${name}"`)
      if (round < 0) continue
      times.built.push(built.ms)
      times.updated.push(updated.ms)
      times.unchanged.push(...unchanged.map(({ ms }) => ms))
    }
  } finally {
    client.close()
  }
  const [built, updated, unchanged] = [times.built, times.updated, times.unchanged].map(percentilesOf) as [
    Percentiles,
    Percentiles,
    Percentiles,
  ]
  return { ...found, built, updated, unchanged }
}

export interface CacheUse {
  mostBytes: number
  reads: number
  builds: number
  /** Size of all boards in the cache format. */
  allBytes: number
  /** Loads that returned an older version than requested. */
  stale: number
}

/** Concurrent random reads of changing boards of different sizes, through a cache that cannot hold them all. */
export async function readAtRandom(
  databaseUrl: string,
  sql: pg.Pool,
  { ids }: Audience,
  size: { boards: number; readers: number; reads: number; boundBytes: number; seed: number },
): Promise<CacheUse> {
  const random = seeded(size.seed)
  const boards: string[] = []
  for (let i = 0; i < size.boards; i++) boards.push(await makeLargeBoard(sql, ids, Math.floor(100 ** random.next())))
  const database = new Database({ url: databaseUrl, size: 4, onError: () => {} })
  const cache = new BoardCache(size.boundBytes)
  const found: CacheUse = { mostBytes: 0, reads: 0, builds: 0, allBytes: 0, stale: 0 }
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
      // Some boards are read far more often than others.
      const id = boards[Math.floor(random.next() ** 3 * boards.length)] as string
      if (random.below(20) === 0)
        await sql.query('update board_stream set last_seq = last_seq + 1 where board_id = $1', [id])
      const version = await readBoardVersion(db, id)
      if (!version) throw new Error('A board is gone')
      const kept = await cache.get(db, id, version)
      found.mostBytes = Math.max(found.mostBytes, cache.sizeBytes)
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
  found.allBytes = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)
  return found
}
