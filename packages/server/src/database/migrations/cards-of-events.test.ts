import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { databaseUrl, onServer, openSql } from '@lockstep/testing/template-database'
import { expect, onTestFinished, test } from 'vitest'
import { ensureDatabase, migrate } from './migrate.ts'
import { FOLDER } from './read-migrations.ts'

const FIRST = '0016_cards_of_events.sql'
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const [BOARD, COLUMN, CARD, LIST, GONE_LIST, USER] = [1, 2, 3, 4, 5, 6].map(uuid) as [
  ...[string, string, string, string],
  ...[string, string],
]

/** The kind, the user, the previous list and the data of an event, and the card it belongs to. */
type Case = [type: string, user: string | null, from: string | null, data: object, card: string | null]
const cases: Case[] = [
  ['board.updated', USER, null, { id: BOARD }, null],
  ['column.moved', USER, null, { id: COLUMN }, null],
  ['label.created', USER, null, { id: CARD }, null],
  ['card.created', USER, null, { id: CARD, column_id: COLUMN }, CARD],
  ['card.moved', USER, COLUMN, { id: CARD, column_id: COLUMN }, CARD],
  // By a rule, and re-spaced.
  ['card.moved', null, uuid(9), { id: CARD, column_id: COLUMN }, CARD],
  ['card.moved', null, COLUMN, { id: CARD, column_id: COLUMN }, null],
  ['card.assigned', null, null, { id: CARD, column_id: COLUMN }, CARD],
  ['checklist.created', USER, null, { id: LIST, card_id: CARD }, CARD],
  ['checklist.moved', null, null, { id: LIST, card_id: CARD }, null],
  ['checklist_item.updated', USER, null, { id: uuid(7), checklist_id: LIST }, CARD],
  ['checklist_item.unassigned', null, null, { id: uuid(7), checklist_id: LIST }, CARD],
  ['checklist_item.moved', null, LIST, { id: uuid(7), checklist_id: LIST }, null],
  ['checklist_item.updated', USER, null, { id: uuid(8), checklist_id: GONE_LIST }, null],
  ['attachment.deleted', USER, null, { id: uuid(7), card_id: CARD }, CARD],
]

test('[HIST-5] events from before, and of the previous version, get their card', async () => {
  const name = `lockstep_test_${randomBytes(6).toString('hex')}`
  const url = databaseUrl(name)
  await ensureDatabase(url)
  const sql = openSql(url)
  const before = await mkdtemp(join(tmpdir(), 'lockstep-migrations-'))
  onTestFinished(async () => {
    await sql.end()
    await rm(before, { recursive: true })
    await onServer((client) => client.query(`drop database if exists ${name} with (force)`))
  })
  const isOlder = (path: string) => !path.endsWith('.sql') || (path.split('/').at(-1) as string) < FIRST
  await cp(fileURLToPath(FOLDER), before, { recursive: true, filter: isOlder })
  await migrate(url, { folder: pathToFileURL(`${before}/`) })
  await sql.query(`
    insert into users (id, email, email_key, username, username_key, hashed_password) values ('${USER}', 'a', 'a', 'a', 'a', '');
    insert into boards (id, title, created_by, updated_by) values ('${BOARD}', 'Board', '${USER}', '${USER}');
    insert into columns (board_id, id, title, color, is_done_column, rank) values ('${BOARD}', '${COLUMN}', 'Column', '', false, 1);
    insert into cards (board_id, id, column_id, title, rank, number, created_at, updated_at)
    values ('${BOARD}', '${CARD}', '${COLUMN}', 'Card', 1, 1, now(), now());
    insert into checklists (board_id, id, card_id, title, rank) values ('${BOARD}', '${LIST}', '${CARD}', 'List', 1)`)
  /** As the previous version writes them. `count` copies of each. */
  const add = async (count: number) => {
    for (const [type, user, from, data] of cases)
      await sql.query(
        `insert into board_events (board_id, seq, created_at, type, user_id, from_id, body)
         select $1, (select coalesce(max(seq), 0) from board_events) + n, now(), $2, $3, $4, $5 from generate_series(1, $6::int) n`,
        [BOARD, type, user, from, JSON.stringify({ type, data }), count],
      )
  }
  // More than one batch.
  await add(100)
  const [first, second, third] = await migrate(url)
  expect([first, second, third]).toEqual(['0016_cards_of_events', '0017_fill_cards_of_events', '0018_card_history'])
  await add(1)
  const { rows } = await sql.query<{ cards: (string | null)[] }>(
    'select array_agg(distinct card_id) as cards from board_events group by type, user_id, from_id, body order by min(seq)',
  )
  expect(rows.map(({ cards }) => cards)).toEqual(cases.map(([, , , , card]) => [card]))
})
