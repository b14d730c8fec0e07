import { Client } from '@lockstep/testing/client'
import { makeTokens } from '@lockstep/testing/load/environment'
import { endProcesses } from '@lockstep/testing/processes'
import { JWT_SECRET } from '@lockstep/testing/secrets'
import { startService, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillAccounts, fillBoards, fillEvents } from './large/fill.ts'
import { expectedUsernames, find, searchesOf } from './large/searches.ts'

/** As in `npm run prove -- large`, a fiftieth of its size. */
const ACCOUNTS = 20_000
const BOARDS = 2_000
const EVENTS_PER_BOARD = 20
const SEARCHES = 3

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
      for (const [kind, searches] of Object.entries(await searchesOf(service.sql, SEARCHES)))
        for (const search of searches) {
          const expected = await expectedUsernames(service.sql, callerId, search, USER_SEARCH === 'open')
          expect(await find(api, search), `${kind}: ${search.search}`).toEqual(expected.slice(0, 50))
        }
    } finally {
      await at.stop()
    }
  },
)
