import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Stores, startStores } from '@lockstep/testing/environment'
import { makeTokens } from '@lockstep/testing/load/environment'
import type { Progress } from '@lockstep/testing/load/measure'
import { idOf, seedBoards, seedUsers, USERS } from '@lockstep/testing/load/seed'
import { type ServiceProcess, startServiceProcess } from '@lockstep/testing/processes'
import type pg from 'pg'
import { migrate } from '../packages/server/src/database/migrations/migrate.ts'
import { pinPostgres } from './pinning.ts'
import type { Size } from './size.ts'

/** Connections to PostgreSQL, of the service and of the calls of the bare functions. */
export const POOL = 8

/** PostgreSQL, Redis and two databases with the same boards: `ours` for the service, `bare` for the functions. */
export interface Environment extends Pick<Stores, 'postgres' | 'redis' | 'url' | 'pool'> {
  size: Size
  progress: Progress
  /** Access tokens by user number, from 1. */
  tokens: string[]
  startService: (database: string, settings?: Record<string, string>) => Promise<ServiceProcess>
  /** The service on `ours`. It is started once, so that it stays warm from one benchmark to the next. */
  sharedService: () => Promise<ServiceProcess>
  [Symbol.asyncDispose]: () => Promise<void>
}

export async function startEnvironment(size: Size, progress: Progress): Promise<Environment> {
  progress(`starting PostgreSQL and Redis, seeding ${size.boards} boards`)
  const stores = await startStores({ postgres: size.postgres })
  pinPostgres(stores.postgres.process().pid)
  const { pool, createDatabase } = stores
  await migrate(await createDatabase('ours'))
  await seedUsers(pool('ours'), 1, USERS)
  await seedBoards(pool('ours'), { from: 1, to: size.boards })
  await pool('ours').query('analyze')
  await createDatabase('bare', 'ours')
  const tokens = await makeTokens(Array.from({ length: USERS + 1 }, (_, n) => idOf('user', n)))
  const startService: Environment['startService'] = (database, settings = {}) =>
    startServiceProcess({
      ...stores.settings(database),
      DATABASE_POOL_SIZE: String(POOL),
      // Shared by all instances, so that only the first one compiles the code.
      NODE_COMPILE_CACHE: join(tmpdir(), 'lockstep-bench-compiled'),
      ...settings,
    })
  let shared: Promise<ServiceProcess> | undefined
  return {
    size,
    progress,
    ...stores,
    tokens,
    startService,
    sharedService: () => {
      shared ??= startService('ours').catch((error: Error) => {
        shared = undefined
        throw error
      })
      return shared
    },
  }
}

/** The number of events in the log of a database. */
export async function countEvents(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: string }>('select count(*) from board_events')
  return Number(rows[0]?.count)
}
