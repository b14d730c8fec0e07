import { endProcesses, launch } from '@lockstep/testing/processes'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AttackEnvironment } from './greedy/environment.ts'
import { evaluate, KINDS, type Observation, type Sample } from './greedy/judge.ts'
import { MemoryWatch } from './greedy/memory-watch.ts'
import { Pacer } from './greedy/pacer.ts'
import { type Pace, runScenario } from './greedy/run.ts'
import { scenarios } from './greedy/scenarios.ts'

const MEBIBYTE = 2 ** 20
/** A few seconds for each scenario. `npm run prove -- greedy` runs them in full size. */
const PACE: Pace = {
  size: 'small',
  attackMs: 1_500,
  calmMs: 100,
  minRounds: 1,
  maxRounds: 1,
  shared: { settings: { MAX_SOCKETS: '100', MAX_REQUESTS_AT_ONCE: '16' }, instances: 2 },
}
/** The attacks and the limits are smaller than in the full suite. */
const LIMIT_BYTES = 512 * MEBIBYTE
const REDIS = ['--client-output-buffer-limit', 'pubsub 2mb 2mb 60']

afterAll(endProcesses)

describe('one greedy account or address beside a bystander', () => {
  let environment: AttackEnvironment
  beforeAll(async () => {
    // Quotas would reject the data that the other defenses must withstand.
    environment = await AttackEnvironment.open({ settings: { QUOTAS: 'off' }, limitBytes: LIMIT_BYTES, redis: REDIS })
    await environment.start(PACE.shared as NonNullable<Pace['shared']>, { isFresh: true })
  }, 180_000)
  afterAll(() => environment?.close())

  for (const scenario of scenarios.filter(({ small }) => small)) {
    test(`[GREEDY-1] [GREEDY-2] ${scenario.title}`, { timeout: 180_000 }, async () => {
      const { verdict, outcomes } = await runScenario(environment, scenario, PACE, false)
      // Times are only evaluated by `npm run prove -- greedy`: a second on a shared machine says too little.
      expect({ ...verdict, outcomes }).toMatchObject({ unusable: [], failures: [] })
    })
  }
})

describe('the evaluation', () => {
  const samples = (ms: number): Sample[] => KINDS.flatMap((kind) => Array.from({ length: 100 }, () => ({ kind, ms })))
  const calm: Observation = {
    attacked: samples(12),
    control: samples(10),
    ended: [],
    peakBytes: 300 * MEBIBYTE,
    limitBytes: 1_024 * MEBIBYTE,
  }
  const findingsOf = (observation: Partial<Observation>) => {
    const { unusable, failures, slow } = evaluate({ ...calm, ...observation })
    return [...unusable.map((reason) => `unusable: ${reason}`), ...failures, ...slow]
  }

  test('[GREEDY-3] accepts a bystander that is hardly affected', () => expect(findingsOf({})).toEqual([]))

  test('[GREEDY-1] finds a process that ended, and memory above the limit', () => {
    expect(findingsOf({ ended: ['the process ended'] })).toEqual(['the process ended'])
    expect(findingsOf({ peakBytes: 1_025 * MEBIBYTE })).toEqual(['memory reached 1025 of 1024 MiB'])
    expect(findingsOf({ peakBytes: 1_024 * MEBIBYTE })).toEqual([])
  })

  test.each(KINDS)('[GREEDY-2] finds a single failure of %s, of the bystander and of the control', (kind) => {
    const failure: Sample = { kind, ms: 1, failure: '503' }
    expect(findingsOf({ attacked: [...calm.attacked, failure] })).toEqual([
      `1 of 501 actions of the bystander failed (${kind}: 503)`,
    ])
    expect(findingsOf({ control: [...calm.control, failure] })).toEqual([
      `unusable: 1 of 501 actions of the control failed (${kind}: 503)`,
    ])
  })

  test.each(KINDS)('[GREEDY-3] finds that one in ten of %s is slow, and that there is none', (kind) => {
    const slowed = calm.attacked.map((sample, i) => (sample.kind === kind && i % 10 === 0 ? { kind, ms: 41 } : sample))
    expect(findingsOf({ attacked: slowed })).toEqual([`p95 of ${kind} is 41 ms, 10 ms in the control`])
    const without = calm.attacked.filter((sample) => sample.kind !== kind)
    expect(findingsOf({ attacked: without })).toEqual([`unusable: there is no sample of ${kind}`])
  })

  test('[GREEDY-3] allows twice the time of the control, or 30 ms more, whichever is more', () => {
    expect(findingsOf({ attacked: samples(40) })).toEqual([])
    expect(findingsOf({ attacked: samples(41) })).toHaveLength(KINDS.length)
    expect(findingsOf({ attacked: samples(200), control: samples(100) })).toEqual([])
    expect(findingsOf({ attacked: samples(201), control: samples(100) })).toHaveLength(KINDS.length)
  })

  test('[GREEDY-4] finds more stored bytes than quotas allow', () => {
    const stored = { what: 'log', bytes: 65 * MEBIBYTE, limitBytes: 64 * MEBIBYTE }
    expect(findingsOf({ stored })).toEqual(['log: 65 MiB are stored, 64 are allowed'])
    expect(findingsOf({ stored: { ...stored, bytes: stored.limitBytes } })).toEqual([])
  })
})

describe('the measurement', () => {
  test('[GREEDY-3] a stall delays everything that was due in it, and a failure keeps its reason', async () => {
    const pacer = new Pacer()
    const stall = Promise.withResolvers<void>()
    let done = 0
    let rejected = 0
    pacer.begin()
    pacer.every(10, 'read', () => (++done === 1 ? stall.promise : Promise.resolve()))
    pacer.every(10, 'write', () => {
      rejected++
      return Promise.reject(new Error('503'))
    })
    setTimeout(stall.resolve, 300)
    await stall.promise
    await expect.poll(() => done).toBeGreaterThan(31)
    await pacer.end()
    const taken = pacer.take()
    const late = taken.filter(({ kind, ms }) => kind === 'read' && ms > 95)
    // Due from the beginning of the stall to 200 ms after it: 20 of them waited for 100 ms and more.
    expect(late.length).toBeGreaterThanOrEqual(19)
    expect(rejected).toBeGreaterThan(0)
    expect(taken.filter(({ kind, failure }) => kind === 'write' && failure === '503')).toHaveLength(rejected)
    expect(pacer.take()).toEqual([])
  })

  test('[GREEDY-3] actions that could not start before the end count as late', async () => {
    const pacer = new Pacer()
    const stall = Promise.withResolvers<void>()
    let done = 0
    pacer.begin()
    pacer.every(10, 'read', () => {
      done++
      return stall.promise
    })
    setTimeout(stall.resolve, 200)
    setTimeout(() => void pacer.end(), 150)
    await stall.promise
    await pacer.end()
    expect(done).toBe(1)
    expect(pacer.take().length).toBeGreaterThanOrEqual(14)
  })

  test('[GREEDY-1] a process that exceeds its memory limit for a moment is ended', async () => {
    const run = (mebibytes: number) =>
      launch(process.execPath, ['-e', `Buffer.alloc(${mebibytes} * 2 ** 20, 1); setTimeout(() => {}, 3e4)`])
    const [modest, greedy] = [run(1), run(400)]
    using watch = new MemoryWatch([modest, greedy], 300 * MEBIBYTE)
    await greedy.ended
    expect(modest.hasEnded()).toBe(false)
    expect(watch.peakBytes).toBeGreaterThan(300 * MEBIBYTE)
    await modest.end('SIGKILL')
  })
})
