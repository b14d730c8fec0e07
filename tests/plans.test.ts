import { endProcesses } from '@lockstep/testing/processes'
import { sampleOf } from '@lockstep/testing/sample'
import { databaseUrl, onServer, openSql } from '@lockstep/testing/template-database'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Seeded, seedBoards } from '../scripts/seed-boards.ts'
import { filledTables, judge, type Mode, OPERATIONS, type PlanSample, watchPlans } from './plan-checks.ts'

/** Few cards on many boards: then every table, also that of the boards, is too large to be worth reading as a whole. */
const [FEW, MORE, CARDS] = [1_000, 1_000, 5]
// Services are started and databases filled here.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })
const modes = sampleOf<Mode>(['force_generic_plan', 'auto'], 2)

const name = `lockstep_test_plans_${process.pid}`
const url = databaseUrl(name)
let sql: pg.Pool
let seeded: Seeded
let before: PlanSample[]
/** The list of users in production. */
const watchColleagues = (mode: Mode) =>
  watchPlans(sql, url, seeded, mode, ['findUsers, everybody'], { USER_SEARCH: 'limited' })
let colleaguesBefore: PlanSample[]
beforeAll(async () => {
  seeded = await seedBoards({ databaseUrl: url, boards: FEW, cards: CARDS })
  sql = openSql(url, 2)
  before = await watchPlans(sql, url, seeded, 'force_generic_plan')
  colleaguesBefore = await watchColleagues('force_generic_plan')
  await seedBoards({ databaseUrl: url, boards: MORE, cards: CARDS })
})
afterAll(async () => {
  await endProcesses()
  await sql.end()
  await onServer((client) => client.query(`drop database if exists ${name} with (force)`))
})

const watch = async (mode: Mode, names?: string[]) => {
  const after = await watchPlans(sql, url, seeded, mode, names)
  return { after, violations: judge(before, after, await filledTables(sql)) }
}

test.each(modes)('[PLAN-1] with %s no operation reads more rows because there are more other boards', async (mode) => {
  const { after, violations } = await watch(mode)
  for (const { operation, statements, rows, pages } of after)
    console.log(operation.padEnd(34), `${statements} statements, ${rows} rows on ${pages} pages`)
  expect(violations).toEqual([])
  // Each statement was explained: a page of cards reads at least its rows.
  expect(after.map(({ operation }) => operation)).toEqual(OPERATIONS)
  for (const { operation, rows } of after) expect(rows, operation).toBeGreaterThan(3)
})

test.each(modes)('[PLAN-1] [USER-7] with %s the members of common boards are listed from indexes', async (mode) => {
  const after = await watchColleagues(mode)
  expect(judge(colleaguesBefore, after, await filledTables(sql))).toEqual([])
  for (const { rows } of after) expect(rows).toBeLessThan(500)
})

test('[PLAN-1] a missing index is found, whether the table is read instead or another index', async () => {
  await sql.query('drop index board_members_by_user')
  try {
    expect((await watch('auto', ['listBoards', 'getCard'])).violations).toEqual([
      'listBoards reads the whole table board_members',
      expect.stringMatching(/^listBoards looks at \d+ rows, at \d+ while/),
    ])
    await sql.query(`alter database ${name} set enable_seqscan = off`)
    expect((await watch('force_generic_plan', ['listBoards'])).violations).toEqual([
      expect.stringMatching(/^listBoards touches \d+ pages for \d+ rows of board_members: Index/),
    ])
  } finally {
    await sql.query('create index board_members_by_user on board_members (user_id, board_id)')
  }
})
