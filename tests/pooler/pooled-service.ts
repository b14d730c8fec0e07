import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { instanceSettings, startInstances, startStores } from '@lockstep/testing/environment'
import { type PgbouncerOptions, startPgbouncer } from '@lockstep/testing/pgbouncer'
import { startAdmin } from '@lockstep/testing/processes'

const ROLES = new URL('../../deploy/postgres/roles.sql', import.meta.url)

/** Fewer connections to PostgreSQL than one instance has to pgbouncer, so that sessions change hands all the time. */
const POOL_SIZE = '6'

/** A migrated database with the documented roles, and pgbouncer in front of it. */
export async function startPooledDatabase() {
  const stores = await startStores()
  await stores.createDatabase('lockstep')
  await stores.pool('lockstep').query(readFileSync(ROLES, 'utf8'))
  const urlOf = (role: string) => stores.url('lockstep').replace('postgres@', `${role}@`)
  const migration = startAdmin(['migrate'], { DATABASE_URL: urlOf('lockstep_migrator') })
  assert.equal(await migration.ended, 0, migration.output())
  return {
    ...stores,
    urlOf,
    sql: stores.pool('lockstep'),
    /** pgbouncer as the service's role sees it. */
    startPgbouncer: (settings: PgbouncerOptions['settings'] = {}, isOld = false) =>
      startPgbouncer({
        target: urlOf('lockstep_app'),
        settings: { default_pool_size: POOL_SIZE, ...settings },
        isOld,
      }),
    /** Two instances behind one pgbouncer. */
    startInstances: (url: string) =>
      startInstances(2, { ...instanceSettings(url, stores.redis.url), MIGRATE_ON_START: 'false' }),
    [Symbol.asyncDispose]: stores[Symbol.asyncDispose],
  }
}
export type PooledDatabase = Awaited<ReturnType<typeof startPooledDatabase>>
