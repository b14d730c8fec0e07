import { readdir, readFile } from 'node:fs/promises'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import pg from 'pg'

const folder = new URL('../../migrations/', import.meta.url)

/** The plain SQL files of `migrations/`, in the order of their names. */
async function getMigrations(): Promise<Record<string, Migration>> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort()
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, folder), 'utf8')))
  return Object.fromEntries(
    files.map((file, i) => [
      file.slice(0, -4),
      { up: async (db) => void (await sql.raw(texts[i] as string).execute(db)) },
    ]),
  )
}

/** Brings the schema up to date, all or nothing, under a lock: of instances that start together one migrates. */
export async function migrate(url: string): Promise<string[]> {
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) }),
  })
  try {
    const { error, results = [] } = await new Migrator({ db, provider: { getMigrations } }).migrateToLatest()
    if (error) throw error
    return results.map((result) => result.migrationName)
  } finally {
    await db.destroy()
  }
}

/** Creates the database that the address names, if the server has none of that name. For development. */
export async function ensureDatabase(url: string): Promise<boolean> {
  const server = new URL(url)
  const name = decodeURIComponent(server.pathname.slice(1))
  server.pathname = '/postgres'
  const client = new pg.Client({ connectionString: server.href })
  await client.connect()
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount !== 0) return false
    await client.query(`create database ${client.escapeIdentifier(name)}`)
    return true
  } catch (error) {
    // Somebody who started at the same moment was quicker.
    if (['42P04', '23505'].includes((error as { code?: string }).code ?? '')) return false
    throw error
  } finally {
    await client.end()
  }
}
