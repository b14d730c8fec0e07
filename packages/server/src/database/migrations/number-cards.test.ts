import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { databaseUrl, onServer, openSql } from '@lockstep/testing/template-database'
import { expect, onTestFinished, test } from 'vitest'
import { ensureDatabase, migrate } from './migrate.ts'
import { FOLDER } from './read-migrations.ts'

const FIRST = '0004_last_card_number.sql'

test('[NUM-2] existing cards are numbered in the order of their creation, board by board', async () => {
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

  // Three boards: with cards, large enough for a batch of its own, and empty. A deleted board leaves only its stream.
  await sql.query(`
    insert into users (id, email, email_key, username, username_key, hashed_password)
    values ('00000000-0000-4000-8000-000000000000', 'a', 'a', 'a', 'a', '');
    insert into board_stream (board_id, card_count)
    select ('00000000-0000-4000-8000-00000000000' || n)::uuid, (array[null, 20000, 0, 0])[n] from generate_series(1, 4) n;
    insert into boards (id, title, created_by, updated_by)
    select board_id, 'Board', '00000000-0000-4000-8000-000000000000', '00000000-0000-4000-8000-000000000000'
    from board_stream where board_id <> '00000000-0000-4000-8000-000000000004';
    insert into columns (board_id, id, title, color, is_done_column, rank) select id, gen_random_uuid(), 'Column', '', false, 1 from boards;
    insert into cards (board_id, id, column_id, title, rank, created_at, updated_at)
    select board_id, gen_random_uuid(), id, 'Card ' || n, -n, now() - n * interval '1 second', now()
    from columns, generate_series(1, 5) n where board_id <> '00000000-0000-4000-8000-000000000003'`)
  expect(await migrate(url)).toEqual(expect.arrayContaining(['0005_card_numbers_and_due_dates', '0007_number_cards']))

  const { rows: cards } = await sql.query(
    'select board_id, array_agg(title order by number) as titles, min(number) as first, max(number) as last from cards group by board_id',
  )
  const titles = ['Card 5', 'Card 4', 'Card 3', 'Card 2', 'Card 1']
  expect(cards.map((board) => [board.titles, board.first, board.last])).toEqual([
    [titles, '1', '5'],
    [titles, '1', '5'],
  ])
  const { rows: streams } = await sql.query('select last_card_number as last from board_stream order by board_id')
  expect(streams.map(({ last }) => last)).toEqual(['5', '5', '0', '0'])

  // Cards that were committed while the first pass ran, and a board that was created before there was a trigger.
  const missed = '0008_number_missed_cards'
  await sql.query(`
    delete from schema_migrations where name = '${missed}';
    update board_stream set last_card_number = 7 where board_id = '00000000-0000-4000-8000-000000000001';
    set session_replication_role = replica;
    insert into cards (board_id, id, column_id, title, rank, created_at, updated_at)
    select board_id, gen_random_uuid(), id, 'Missed ' || n, n, now() + n * interval '1 second', now()
    from columns, generate_series(1, 2) n where board_id <> '00000000-0000-4000-8000-000000000002';
    set session_replication_role = origin`)
  expect(await migrate(url)).toEqual([missed])
  const { rows: numbers } = await sql.query(
    "select title, number from cards where title like 'Missed%' order by board_id, number",
  )
  expect(numbers.map(({ title, number }) => `${title}: ${number}`)).toEqual([
    'Missed 1: 8',
    'Missed 2: 9',
    'Missed 1: 1',
    'Missed 2: 2',
  ])
  const { rows: counted } = await sql.query('select last_card_number as last from board_stream order by board_id')
  expect(counted.map(({ last }) => last)).toEqual(['9', '5', '2', '0'])
})
