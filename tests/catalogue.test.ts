import { createTestDatabase, type TestDatabase } from '@lockstep/testing/test-database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Catalogue, judgeCatalogue, readCatalogue } from './catalogue.ts'

let database: TestDatabase
let catalogue: Catalogue
beforeAll(async () => {
  database = await createTestDatabase()
  catalogue = await readCatalogue(database.sql)
})
afterAll(() => database?.drop())

test('[SCALE-1] every table and key belongs to one board, or states why not', () => {
  expect(catalogue.tables.length).toBeGreaterThan(15)
  expect(catalogue.keys.filter(({ kind }) => kind === 'foreign').length).toBeGreaterThan(15)
  expect(judgeCatalogue(catalogue)).toEqual([])
})

test.each([
  ['create table notes (board_id uuid primary key)', ['notes is not in `scopes`']],
  ['drop table automation_runs', ['there is no table automation_runs']],
  [
    'alter table cards add constraint cards_title unique (title)',
    ['cards: the unique key cards_title (title) leaves its board'],
  ],
  ['create unique index label_names on labels (name)', ['labels: the unique key label_names (name) leaves its board']],
  [
    'alter table attachments add constraint of_card foreign key (card_id) references cards (id)',
    ['attachments: the foreign key of_card (card_id) leaves its board'],
  ],
  [
    'alter table automation_runs drop constraint automation_runs_pkey, add constraint runs primary key (id)',
    ['automation_runs: the primary key runs (id) leaves its board'],
  ],
  // It contains the board's column, but refers to another table with it.
  [
    'alter table labels add constraint astray foreign key (board_id) references users (id)',
    ['labels: the foreign key astray (board_id) leaves its board'],
  ],
  ['alter table labels drop constraint labels_id_taken', ['labels_id_taken does not need an exception']],
])('[SCALE-1] a violation is found: %s', async (statement, complaints) => {
  const client = await database.sql.connect()
  try {
    await client.query('begin')
    await client.query(statement)
    expect(judgeCatalogue(await readCatalogue(client))).toEqual(complaints)
  } finally {
    await client.query('rollback')
    client.release()
  }
})
