import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startStores } from '@lockstep/testing/environment'
import { idOf, seedBoards, seedUsers } from '@lockstep/testing/load/seed'
import { endProcesses, startServiceProcess } from '@lockstep/testing/processes'
import { seeded } from '@lockstep/testing/random'
import type pg from 'pg'
import { BoardCache } from '../../packages/server/src/boards/board-cache.ts'
import { readBoardVersion } from '../../packages/server/src/boards/board-queries.ts'
import type { BoardVersion } from '../../packages/server/src/core/board-version.ts'
import { Database } from '../../packages/server/src/database/database.ts'
import { startFaultEnvironment } from '../fault-harness/environment.ts'
import { injectFaults } from '../fault-harness/faults.ts'
import { startStandalone } from '../fault-harness/redis.ts'
import { newHistory } from '../fault-harness/run.ts'
import { runLifetimes } from '../full-board/lifetimes.ts'
import { findsMutation, mutations } from '../full-board/mutants.ts'
import { atLeast, atMost, collectFigures, equals, info, isTrue, type Progress, type Report } from './report.ts'

const LIFETIMES = Number(process.env['LIFETIMES'] ?? 500)
const STEPS = 25
const CONCURRENCY = 6
const DURATIONS = { freeze: 2_000, redis: 2_000, lose: 2_000, gap: 3_000 }
const MUTANT_LIFETIMES = 60

/** Full boards from the cache equal what PostgreSQL builds, through faults, and the cache keeps to its memory. */
export async function prove(progress: Progress): Promise<Report> {
  const collected = collectFigures(progress)
  try {
    await proveLifetimes(collected, progress)
    await proveMutants(collected)
    await proveMemory(collected)
  } finally {
    await endProcesses()
  }
  const { figures, violations } = collected
  return { figures, violations }
}

type Collected = ReturnType<typeof collectFigures>

async function proveLifetimes({ add, fail }: Collected, progress: Progress) {
  const random = seeded(1)
  const environment = await startFaultEnvironment(await startStandalone(random), 1)
  const history = newHistory(environment, 1)
  let isOver = false
  const injecting = (async () => {
    while (!isOver)
      await injectFaults({ environment, history, listeners: [], random, durations: DURATIONS }, 'once', () => {})
  })()
  const { reads, writes, violations } = await runLifetimes({
    seeds: Array.from({ length: LIFETIMES }, (_, i) => i + 1),
    steps: STEPS,
    concurrency: CONCURRENCY,
    urls: () => environment.instances.filter((each) => each.isInRotation).map(({ process }) => process.baseUrl),
    sql: environment.sql,
    progress: (done, read) => {
      if (done % 10 === 0) progress(`${done} of ${LIFETIMES} lifetimes, ${read} reads`)
    },
  }).finally(() => {
    isOver = true
  })
  await injecting
  await environment.close()
  for (const sentence of violations) fail(sentence)
  add(
    info('lifetimes', LIFETIMES),
    info('writes', writes),
    info('faults', history.faults.length),
    atLeast('full boards compared', reads, LIFETIMES * STEPS),
    equals('boards that differ from what PostgreSQL builds', violations.length, 0),
  )
}

async function proveMutants({ add }: Collected) {
  await using stores = await startStores()
  const seeds = Array.from({ length: MUTANT_LIFETIMES }, (_, i) => i + 1)
  for (const [n, [name, mutation]] of Object.entries(mutations).entries())
    add(
      isTrue(
        `seeded defect found: ${name}`,
        await findsMutation(mutation, stores.settings(`mutant_${n}`), { seeds, steps: 2 * STEPS }),
      ),
    )
}

const CACHE_BYTES = 8 * 2 ** 20
const BOARDS = 64
const CARDS = 1_000
const MAX_OF_SETTING = 1.2

/** Fills a cache beyond its limit, changes its boards many times, and measures the memory that it holds after a collection. */
async function proveMemory({ add }: Collected) {
  await using stores = await startStores()
  // Migrates the database.
  await (await startServiceProcess(stores.settings())).end()
  const pool = stores.pool('lockstep')
  await seedUsers(pool, 1, 50, '')
  await seedBoards(pool, { from: 1, to: BOARDS, cards: CARDS })
  const database = new Database({ url: stores.url('lockstep'), size: 2, onError: () => {} })
  const boards = Array.from({ length: BOARDS }, (_, i) => idOf('board', i + 1))
  const load = async (cache: BoardCache) => {
    for (const id of boards) await cache.get(database, id, (await readBoardVersion(database, id)) as BoardVersion)
  }
  // Compiled code and connections are not memory of the cache.
  await load(new BoardCache(1))
  const before = await usedMemory()
  const cache = new BoardCache(CACHE_BYTES)
  await load(cache)
  const filled = (await usedMemory()) - before
  for (let round = 1; round <= 5; round++) {
    await changeCards(pool, boards)
    await load(cache)
  }
  const changed = (await usedMemory()) - before
  add(
    atLeast('bytes that the cache counts, of its setting', cache.sizeBytes / CACHE_BYTES, 0.8),
    atMost('memory of a full cache, of its setting', filled / CACHE_BYTES, MAX_OF_SETTING),
    atMost('memory after its boards changed five times, of its setting', changed / CACHE_BYTES, MAX_OF_SETTING),
  )
  await database.close()
}

/** Renames some cards of each board and logs it, as the service does. */
async function changeCards(pool: pg.Pool, boards: string[]) {
  await pool.query(
    `with renamed as (
      update cards card set title = 'Renamed ' || gen_random_uuid()
      where card.board_id = any ($1::uuid[]) and random() < 0.005 returning card.board_id, card.id
    ), numbered as (
      select *, row_number() over (partition by board_id) as nth from renamed
    ), logged as (
      insert into board_events (board_id, seq, created_at, type, card_id, body)
      select numbered.board_id, stream.last_seq + nth, now(), 'card.updated', numbered.id, '{}'
      from numbered join board_stream stream on stream.board_id = numbered.board_id
    )
    update board_stream stream set last_seq = last_seq + (select count(*) from renamed where renamed.board_id = stream.board_id)
    where stream.board_id = any ($1::uuid[])`,
    [boards],
  )
}

/** The least of several collections: buffers of native code are freed some time after they became garbage. */
async function usedMemory(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const samples: number[] = []
  for (let i = 0; i < 5; i++) {
    await pause(100)
    collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    samples.push(heapUsed + arrayBuffers)
  }
  return Math.min(...samples)
}
