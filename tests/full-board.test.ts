import { startStores } from '@lockstep/testing/environment'
import type { ServerMutation } from '@lockstep/testing/mutated-server'
import { startService, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runLifetimes } from './full-board/lifetimes.ts'
import { findsMutation, mutations } from './full-board/mutants.ts'

/** `npm run prove -- full-board` runs 500 of them with faults. */
const SEEDS = Array.from({ length: 8 }, (_, i) => i + 1)
const STEPS = 25

const services: TestService[] = []
beforeAll(async () => {
  const first = await startService()
  services.push(first, await startService({}, { beside: first }), await startService({}, { beside: first }))
})
afterAll(async () => {
  for (const service of services.toReversed()) await service.stop()
})

test('[READ-8] through random lifetimes, every response of three instances equals what PostgreSQL builds', async () => {
  const { reads, violations } = await runLifetimes({
    seeds: SEEDS,
    steps: STEPS,
    concurrency: 4,
    urls: () => services.map(({ baseUrl }) => baseUrl),
    sql: (services[0] as TestService).sql,
  })
  expect(violations).toEqual([])
  expect(reads).toBeGreaterThan(SEEDS.length * STEPS)
})

test('[READ-8] the comparison finds a cache that misses one changed card', async () => {
  await using stores = await startStores()
  const mutation = mutations['a card that was only re-spaced is missed'] as ServerMutation
  expect(await findsMutation(mutation, stores.settings(), { seeds: SEEDS, steps: 2 * STEPS })).toBe(true)
})
