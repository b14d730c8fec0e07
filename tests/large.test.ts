import { Client } from '@lockstep/testing/client'
import { makeTokens } from '@lockstep/testing/load/environment'
import { endProcesses } from '@lockstep/testing/processes'
import { JWT_SECRET } from '@lockstep/testing/secrets'
import { startService, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Seeded, seedBoards } from '../scripts/seed-boards.ts'
import { fillAccounts, fillBoards, fillEvents } from './large/fill.ts'
import { expectedUsernames, find, searchesOf } from './large/searches.ts'
import { filledTables, judge, type Mode, type PlanSample, SEARCHES, watchPlans } from './plan-checks.ts'

/** As in `npm run prove -- large`, a fiftieth of its size. */
const ACCOUNTS = 20_000
const BOARDS = 2_000
const EVENTS_PER_BOARD = 20
const TERMS = 3
// A database is filled, and services are started.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 })

let service: TestService
let callerId: string
let token: string
beforeAll(async () => {
  service = await startService({ JWT_SECRET, ADMIN_API: 'on' })
  await fillAccounts(service.sql, ACCOUNTS)
  callerId = await fillBoards(service.sql, BOARDS, 10)
  await fillEvents(service.sql, EVENTS_PER_BOARD)
  token = (await makeTokens([callerId]))[0] as string
})
afterAll(async () => {
  await endProcesses()
  await service.stop()
})

test.each(['limited', 'open'])(
  '[USER-3] [USER-4] [USER-7] with USER_SEARCH=%s every kind of search finds the same as a read of all accounts',
  async (USER_SEARCH) => {
    const at = await startService({ JWT_SECRET, USER_SEARCH }, { beside: service })
    const api = new Client(at.baseUrl, token)
    try {
      for (const [kind, searches] of Object.entries(await searchesOf(service.sql, TERMS)))
        for (const search of searches) {
          const expected = await expectedUsernames(service.sql, callerId, search, USER_SEARCH === 'open')
          expect(await find(api, search), `${kind}: ${search.search}`).toEqual(expected.slice(0, 50))
        }
    } finally {
      await at.stop()
    }
  },
)

describe('plans', () => {
  let seeded: Seeded
  let before: PlanSample[]
  const watch = (mode: Mode, names = SEARCHES) => watchPlans(service.sql, service.databaseUrl, seeded, mode, names)
  beforeAll(async () => {
    seeded = await seedBoards({ databaseUrl: service.databaseUrl, boards: 20, cards: 5 })
    before = await watch('force_generic_plan')
    await fillAccounts(service.sql, ACCOUNTS)
  })

  test.each<Mode>(['force_generic_plan', 'auto'])(
    '[PLAN-2] with %s no search reads more because there are more accounts',
    async (mode) => {
      const after = await watch(mode)
      expect(judge(before, after, await filledTables(service.sql))).toEqual([])
      for (const { operation, rows } of after) expect(rows, operation).toBeLessThan(12_000)
    },
  )

  test('[PLAN-2] a missing index is found', async () => {
    const names = ['findUsers, two letters that are nowhere']
    await service.sql.query('drop index users_by_parts')
    const violations = judge(before, await watch('auto', names), await filledTables(service.sql))
    expect(violations).toContainEqual(expect.stringMatching(/^findUsers, two letters that are nowhere (reads|looks)/))
  })
})
