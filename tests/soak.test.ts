import { endProcesses, startRedis } from '@lockstep/testing/processes'
import { seeded } from '@lockstep/testing/random'
import { createTestDatabase, type TestDatabase } from '@lockstep/testing/test-database'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chartOf } from './soak/chart.ts'
import { compareLevels, measureGrowth, type Series } from './soak/judge.ts'
import { type SoakResult, soak } from './soak/run.ts'
import { type InstanceSample, quantilesOf, type Sample } from './soak/sampler.ts'
import { undisturbed, verdict } from './soak/verdict.ts'

/** A few seconds with short visits. `npm run prove -- soak` takes an hour. */
const SIZE = {
  seed: 1,
  workloads: 2,
  people: 6,
  boards: 3,
  rate: 8,
  liveShare: 20,
  stayS: 3,
  thinkS: 0.5,
  seconds: 8,
  sampleS: 1,
  collectEvery: 3,
  reportS: 60,
}

describe('a workload on two instances', () => {
  let database: TestDatabase
  let result: SoakResult
  beforeAll(async () => {
    database = await createTestDatabase()
    // Rate limits are counted in Redis by address, so the test does not share it with others.
    const redis = await startRedis()
    result = await soak(SIZE, { databaseUrl: database.url, redis_url: redis.url, pids: [] }, console.log)
    const { actions, settled, rejections, compared, unchanged } = result.report
    console.log({ ...actions, settled, rejections, compared, unchanged })
  }, 240_000)
  afterAll(async () => {
    await endProcesses()
    await database?.drop()
  })

  test('[SOAK-1] every user action was performed, and nothing failed', () => {
    expect(result.violations).toEqual([])
    expect(Object.keys(result.report.actions)).toHaveLength(14)
    expect(result.report.settled['confirmed']).toBeGreaterThan(0)
    expect(result.report.unchanged).toBeGreaterThan(0)
    for (const { serverErrors, shed, requests, deliveries } of result.totals) {
      expect({ serverErrors, shed }).toEqual({ serverErrors: 0, shed: 0 })
      expect(requests).toBeGreaterThan(100)
      expect(deliveries).toBeGreaterThan(0)
    }
  })
  test('[SOAK-2] live boards equal the board of the service, also after a lost connection, and no socket or request remains in the end', () => {
    expect(result.report.compared).toBeGreaterThan(0)
    expect(result.report.reconnects).toBeGreaterThan(0)
    for (const { socketsLeft, requestsLeft } of result.totals)
      expect({ socketsLeft, requestsLeft }).toEqual({ socketsLeft: 0, requestsLeft: 0 })
  })
  test('[SOAK-3] every sample contains memory, lag, waits, files, sockets, latency and stores', () => {
    expect(result.samples.length).toBeGreaterThanOrEqual(5)
    expect(result.samples.filter(({ isCollected }) => isCollected).length).toBeGreaterThanOrEqual(2)
    for (const { instances, stores } of result.samples) {
      expect(instances).toHaveLength(2)
      for (const figures of [...instances, stores])
        for (const [name, value] of Object.entries(figures))
          expect({ [name]: value }).not.toEqual({ [name]: Number.NaN })
    }
    const busiest = (name: keyof InstanceSample) =>
      Math.max(...result.samples.flatMap(({ instances }) => instances.map((instance) => instance[name])))
    for (const name of [
      'rss_mib',
      'heap_mib',
      'lag_p99_ms',
      'sockets',
      'files',
      'requests_per_second',
      'latency_p99_ms',
    ] as const)
      expect({ name, value: busiest(name) }).toEqual({ name, value: expect.toSatisfy((value: number) => value > 0) })
    expect(chartOf(result.samples, 'A few seconds')).toContain('resident memory')
  })
})

const MINUTES = 60
/** Samples of an hour, one every five seconds. */
const looks = (value: (minutes: number, nth: number) => number): Series =>
  Array.from({ length: MINUTES * 12 }, (_, i) => [i * 5, value(i / 12, i)])
/** A sawtooth like that of garbage collection, with occasional spikes. */
const noise = (seed: number) => {
  const random = seeded(seed)
  return (nth: number) => ((nth * 7) % 41) - 20 + 16 * (random.next() - 0.5) + (random.below(50) === 0 ? 60 : 0)
}
const MEMORY = { share: 0.02, perHour: 10 }
const LAG = { ratio: 1.25, floor: 30 }

describe('the evaluation', () => {
  test('[SOAK-3] noise, and growth that ends with the warm-up, are level', () => {
    for (let seed = 1; seed <= 10; seed++) {
      const rough = noise(seed)
      expect(
        measureGrowth(
          looks((_, nth) => 180 + rough(nth)),
          MEMORY,
        ),
      ).toMatchObject({ isFlat: true })
      const warm = looks((minutes, nth) => 180 - 60 * Math.exp(-minutes / 4) + rough(nth))
      expect(measureGrowth(warm, MEMORY)).toMatchObject({ isFlat: true })
      const collected = looks((_, nth) => 180 + rough(nth) / 4).filter((_, nth) => nth % 12 === 0)
      expect(measureGrowth(collected, MEMORY)).toMatchObject({ isFlat: true })
      expect(
        compareLevels(
          looks((_, nth) => 60 + rough(nth)),
          LAG,
        ),
      ).toMatchObject({ isFlat: true })
    }
  })
  test.each([
    ['1 KiB for each of 50 requests a second', (50 * 60) / 1_024],
    ['one of 20 MiB in an hour', 20 / 60],
  ])('[SOAK-3] a leak is found: %s', (_, mibPerMinute) => {
    for (let seed = 1; seed <= 10; seed++) {
      const rough = noise(seed)
      const leaking = looks((minutes, nth) => 180 + mibPerMinute * minutes + rough(nth))
      const { isFlat, perHour } = measureGrowth(leaking, MEMORY)
      expect(isFlat).toBe(false)
      expect(perHour / (mibPerMinute * 60)).toBeCloseTo(1, 0)
    }
  })
  test('[SOAK-3] growing lag and waits are found, unless they are below the floor', () => {
    const growing = (from: number) => looks((minutes, nth) => from * (1 + minutes / 30) + noise(1)(nth) / 100)
    expect(compareLevels(growing(60), LAG)).toMatchObject({ isFlat: false })
    expect(compareLevels(growing(2), { ratio: 1.25, floor: 1 })).toMatchObject({ isFlat: false })
    expect(compareLevels(growing(10), LAG)).toMatchObject({ isFlat: true })
  })
})

describe('the verdict', () => {
  const calm: InstanceSample = {
    rss_mib: 180,
    heap_mib: 80,
    external_mib: 10,
    lag_p50_ms: 11,
    lag_p99_ms: 20,
    pool_waiting: 0,
    pool_wait_ms: 0.1,
    pool_wait_p99_ms: 1,
    sockets: 60,
    files: 110,
    requests_per_second: 50,
    latency_p50_ms: 5,
    latency_p99_ms: 30,
    cpu_cores: 0.3,
  }
  const stores = { content_mib: 30, kept_mib: 50, connections: 20, redis_mib: 2 }
  const hour = (change: (minutes: number) => Partial<InstanceSample>, others: (minutes: number) => number = () => 0) =>
    looks((minutes) => minutes).map(([atS, minutes], nth): Sample => {
      const instances = [{ ...calm }, { ...calm, ...change(minutes) }]
      return { atS, isCollected: nth % 12 === 0, otherCores: others(minutes), instances, stores }
    })
  const missed = (samples: Sample[]) => verdict(samples).filter(({ met }) => met === false)

  test('[SOAK-3] a calm hour is level', () => expect(missed(hour(() => ({})))).toEqual([]))

  test.each([
    ['growth of resident memory after a garbage collection', (minutes: number) => ({ rss_mib: 180 + minutes / 3 })],
    ['growth of heap after a garbage collection', (minutes: number) => ({ heap_mib: 80 + minutes / 3 })],
    [
      'growth of buffers outside the heap after a garbage collection',
      (minutes: number) => ({ external_mib: 10 + minutes / 3 }),
    ],
    ['event-loop lag, p50', (minutes: number) => ({ lag_p50_ms: 11 + minutes / 3 })],
    ['event-loop lag, p99', (minutes: number) => ({ lag_p99_ms: 20 + minutes })],
    ['wait for a database connection, mean', (minutes: number) => ({ pool_wait_ms: minutes / 10 })],
    ['wait for a database connection, p99', (minutes: number) => ({ pool_wait_p99_ms: minutes })],
    ['requests waiting for a database connection', (minutes: number) => ({ pool_waiting: minutes / 3 })],
    ['latency, p99', (minutes: number) => ({ latency_p99_ms: 30 + 2 * minutes })],
    ['open files', (minutes: number) => ({ files: 110 + 3 * minutes })],
    ['open sockets', (minutes: number) => ({ sockets: 60 + 2 * minutes })],
  ])('[SOAK-3] one instance is enough to find: %s', (what, change) => {
    expect(missed(hour(change)).map((figure) => figure.what)).toEqual([expect.stringContaining(what)])
  })
  test('[SOAK-3] samples with other load on the machine are excluded if enough others remain', () => {
    const isBusy = (minutes: number) => minutes > 45
    const slow = (minutes: number) => ({ lag_p99_ms: isBusy(minutes) ? 200 : 20 })
    expect(missed(hour(slow, (minutes) => (isBusy(minutes) ? 1 : 0)))).toEqual([])
    expect(missed(hour(slow))).toHaveLength(1)
    const always = hour(slow, () => 1)
    expect(undisturbed(always)).toBe(always)
  })
  test('[SOAK-3] quantiles are those between two samples', () => {
    const before = new Map([
      [1, 100],
      [2, 100],
      [Infinity, 100],
    ])
    const now = new Map([
      [1, 150],
      [2, 199],
      [Infinity, 200],
    ])
    const quantile = quantilesOf(now, before)
    expect(quantile(0.5)).toBeCloseTo(1)
    expect(quantile(0.99)).toBeCloseTo(2)
    expect(quantilesOf(before, before)(0.99)).toBe(0)
  })
})
