import { endProcesses } from '@lockstep/testing/processes'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CONTROL, scenarios } from './greedy/attacks.ts'
import { judge, judgeRuns, KINDS, type Run, type Sample, type Verdict } from './greedy/judge.ts'
import { OpenLoop } from './greedy/open-loop.ts'
import { AttackEnvironment, type Pace } from './greedy/run.ts'

const MEBIBYTE = 2 ** 20
/** A few seconds. `npm run prove -- greedy` runs all scenarios at full size. */
const PACE: Pace = { starts: 1, attackMs: 2_500, warmUpMs: 500, calmMs: 100 }
const SCALE = 1 / 6
const chosen = scenarios.filter(({ name }) => name === 'history' || name === 'bodies')

afterAll(endProcesses)

describe('one greedy account beside a bystander', () => {
  let environment: AttackEnvironment
  let control: Run
  beforeAll(async () => {
    environment = await AttackEnvironment.open(chosen, SCALE)
    control = await environment.run(CONTROL, PACE)
  }, 180_000)
  afterAll(() => environment?.close())

  test.each(chosen)('[GREEDY-1] [GREEDY-2] $title', { timeout: 180_000 }, async (scenario) => {
    const run = await environment.run(scenario, PACE)
    // Times are judged by `npm run prove -- greedy`: a few seconds on a shared machine say too little.
    const { failures, peakMebibytes } = judge(run, control, 2)
    expect(failures).toEqual([])
    expect(peakMebibytes).toBeGreaterThan(0)
  })
})

describe('the judge', () => {
  const samples = (ms: number, at = 0): Sample[] =>
    KINDS.flatMap((kind) => Array.from({ length: 100 }, () => ({ kind, at, ms })))
  const runOf = (differs: Partial<Run> = {}): Run => ({
    samples: samples(40),
    peakBytes: 300 * MEBIBYTE,
    hasEnded: false,
    outcomes: {},
    idle: [],
    ...differs,
  })
  const findings = (run: Partial<Run>, control = runOf()) => {
    const { failures, slow } = judge(runOf(run), control, 40)
    return [...failures, ...slow]
  }

  test('[GREEDY-1] [GREEDY-2] [GREEDY-3] accepts a run within the bounds', () =>
    expect(findings({ samples: samples(250), peakBytes: 1_023 * MEBIBYTE })).toEqual([]))

  test.each(KINDS)('[GREEDY-1] finds one action of %s that fails, and a class without samples', (kind) => {
    const failure: Sample = { kind, at: 0, ms: 1, failure: '503 overloaded' }
    expect(findings({ samples: [...samples(40), failure] })).toEqual([`1 actions failed (${kind}: 503 overloaded)`])
    const without = samples(40).filter((sample) => sample.kind !== kind)
    expect(findings({ samples: without })).toEqual([`there are fewer than 40 samples of ${kind}`])
  })

  test('[GREEDY-1] finds an attack that had no effect', () =>
    expect(findings({ idle: ['history'] })).toEqual(['the attack history had no effect']))

  test('[GREEDY-2] finds a process that ended, and a peak of memory', () => {
    expect(findings({ hasEnded: true })).toEqual(['the process ended'])
    expect(findings({ peakBytes: 1_024 * MEBIBYTE })).toEqual(['memory reached 1024 MiB'])
  })

  test.each(KINDS)('[GREEDY-3] finds that a tenth of %s is slow', (kind) => {
    const slow = samples(40).map((sample, i) =>
      sample.kind === kind && i % 10 === 0 ? { ...sample, ms: 251 } : sample,
    )
    expect(findings({ samples: slow })).toEqual([`p95 of ${kind} is 251 ms, 250 are allowed`])
  })

  test('[GREEDY-3] finds a p95 of the first eight seconds that all samples together hide', () => {
    const later = Array.from({ length: 20 }, () => samples(40, 9_000)).flat()
    expect(findings({ samples: [...samples(251), ...later] })).toHaveLength(KINDS.length)
    expect(findings({ samples: [...samples(40), ...samples(251, 9_000)] })).toHaveLength(KINDS.length)
  })

  test('[GREEDY-3] allows five times the control', () => {
    const control = runOf({ samples: samples(100) })
    expect(findings({ samples: samples(500) }, control)).toEqual([])
    expect(findings({ samples: samples(501) }, control)).toHaveLength(KINDS.length)
  })

  test.each([
    ['', false, 1],
    ['x', false, 3],
    ['x x', true, 2],
    ['x - x', true, 3],
  ])('[GREEDY-4] runs that miss (x) and hold (-) a bound: %s', async (order, isMissed, count) => {
    const misses = order.split(' ')
    const verdicts: Verdict[] = misses.map((each) => judge(runOf({ hasEnded: each === 'x' }), runOf(), 40))
    const calm = judge(runOf(), runOf(), 40)
    let nth = 0
    const judged = await judgeRuns(async () => verdicts[nth++] ?? calm)
    expect({ isMissed: judged.missed > 1, runs: judged.verdicts.length }).toEqual({ isMissed, runs: count })
  })
})

test('[GREEDY-3] actions are sent by the clock while earlier ones wait, and their times start when they were due', async () => {
  const loop = new OpenLoop()
  const stall = Promise.withResolvers<void>()
  let started = 0
  loop.begin([
    { kind: 'me', everyMs: 10, act: () => (++started > 20 ? Promise.resolve() : stall.promise) },
    { kind: 'card', everyMs: 10, act: () => Promise.reject(new Error('503')) },
  ])
  await expect.poll(() => started).toBeGreaterThan(20)
  stall.resolve()
  const samples = await loop.end()
  // The 20th was due 190 ms after the first.
  expect(samples.find(({ kind, at }) => kind === 'me' && at === 0)?.ms).toBeGreaterThan(190)
  const failures = samples.filter(({ kind }) => kind === 'card').map(({ failure }) => failure)
  expect(new Set(failures)).toEqual(new Set(['503']))
  expect(await loop.end()).toEqual([])
})
