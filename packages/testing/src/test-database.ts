import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { inject } from 'vitest'
import { databaseUrl, onServer, openSql } from './template-database.ts'

/** A database of one test file. */
export interface TestDatabase {
  name: string
  url: string
  /** Connections of the test, beside those of the service. */
  sql: pg.Pool
  drop: () => Promise<void>
}

/** Copies the migrated template database of the test run. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `lockstep_test_${randomBytes(6).toString('hex')}`
  await onServer((client) => client.query(`create database ${name} template ${inject('template')}`))
  const sql = openSql(databaseUrl(name))
  return {
    name,
    url: databaseUrl(name),
    sql,
    drop: async () => {
      await sql.end()
      await onServer((client) => client.query(`drop database if exists ${name} with (force)`))
    },
  }
}
