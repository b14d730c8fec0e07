import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type HubClass, type Outcome, simulate } from '@lockstep/testing/hub-simulation'
import { afterAll, describe, expect, test } from 'vitest'
import { Hub } from './hub.ts'
import type { Delivery, LiveEvent } from './hub-environment.ts'
import { delayOf } from './socket-metrics.ts'

const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? 60)
const MUTANT_SEEDS = 20
const mutants = new URL('../../../../.test-output/mutants/', import.meta.url)
afterAll(() => rmSync(mutants, { recursive: true, force: true }))

const files = ['hub.ts', 'board-channel.ts', 'slow-subscribers.ts'] as const
type Mutation = [file: (typeof files)[number], original: string, mutated: string]
const neverReconcile: Mutation = [
  'hub.ts',
  'this.environment.readHeads([...this.channels.keys()], (heads) => {',
  'this.environment.readHeads([], (heads) => {',
]

/** Mutation testing: each entry breaks one rule in the hub's source text, and the simulation must detect it. */
const mutations: Record<string, Mutation[]> = {
  'the head is not read after the subscription took effect': [
    neverReconcile,
    [
      'hub.ts',
      'environment.subscribe(board_id, () => channel.checkHead())',
      'environment.subscribe(board_id, () => {})',
    ],
  ],
  'the hub does not reconcile with the log': [neverReconcile],
  'reading the head moves the position': [
    ['hub.ts', 'else channel.fillGap(head.seq)', 'else channel.lastSeq = Math.max(channel.lastSeq, head.seq)'],
  ],
  'a gap is not filled': [
    ['board-channel.ts', '    this.applyBuffered()\n  }', '    this.applyEvent(event)\n  }'],
    ['board-channel.ts', 'if (event.seq !== this.lastSeq + 1 && ', 'if (event.seq <= this.lastSeq && '],
  ],
  'a subscriber skips to live delivery before it has caught up': [
    [
      'board-channel.ts',
      '      this.deliver(subscription, events)\n      this.catchUp(subscription)',
      '      this.deliver(subscription, events)\n      subscription.nextSeq = this.lastSeq + 1',
    ],
  ],
  'the cursor of a subscriber is ignored': [
    [
      'board-channel.ts',
      'const events = this.fromRing(subscription.nextSeq)',
      'const events = this.ring.at(-1) ? this.ring.slice(-1) : this.fromRing(subscription.nextSeq)',
    ],
  ],
  'a slow subscriber misses events': [
    [
      'board-channel.ts',
      '    if (isFull) this.markStalled(',
      '    if (isFull) subscription.nextSeq = this.lastSeq + 2\n    if (isFull) this.markStalled(',
    ],
  ],
  'a slow subscriber is forgotten': [
    ['board-channel.ts', '    this.clearStalled(subscription)\n    this.catchUp(subscription)', '    return'],
  ],
  'a removed member is not evicted': [
    [
      'board-channel.ts',
      "(type === 'board.member_removed' && subject_id === subscriber.user_id",
      "(type === 'nothing' && subject_id === subscriber.user_id",
    ],
  ],
  'an event is reported as delivered twice': [
    ['board-channel.ts', '    this.undelivered = this.undelivered.slice(done.length)\n', ''],
  ],
  'an old removal evicts a member who was added again': [
    ['board-channel.ts', ' && seq > subscriber.authorizedAtSeq)', ')'],
  ],
}

/** Writes a copy of the hub with the mutations, and imports it. */
async function importMutant(name: string, changes: Mutation[]): Promise<HubClass> {
  const folder = new URL(`${name.replaceAll(' ', '-')}/`, mutants)
  mkdirSync(folder, { recursive: true })
  const parent = fileURLToPath(new URL('../', import.meta.url))
  for (const file of files) {
    let text = readFileSync(new URL(file, import.meta.url), 'utf8')
    for (const [, original, mutated] of changes.filter(([changed]) => changed === file)) {
      expect(text, `${file} no longer contains: ${original}`).toContain(original)
      text = text.replace(original, mutated)
    }
    writeFileSync(new URL(file, folder), text.replaceAll("from '../", `from '${parent}`))
  }
  return ((await import(fileURLToPath(new URL('hub.ts', folder)))) as { Hub: HubClass }).Hub
}

function run(seeds: number, HubUnderTest: HubClass, options = {}) {
  const outcomes: Outcome[] = []
  for (let seed = 1; seed <= seeds; seed++) outcomes.push(simulate(seed, HubUnderTest, options))
  const sum = (key: 'events' | 'delivered' | 'lost' | 'connects' | 'reported') =>
    outcomes.reduce((total, o) => total + o[key], 0)
  return { outcomes, violations: outcomes.flatMap((o) => o.violations), sum }
}

describe('simulation of the hub', () => {
  test(`[LIVE-1] [LIVE-2] [LIVE-3] ${SEEDS} seeds of lost messages, kills, slow readers and reconnects: no violation`, () => {
    const { violations, sum } = run(SEEDS, Hub)
    console.log(
      `${SEEDS} seeds: ${sum('events')} events, ${sum('delivered')} deliveries, ${sum('lost')} lost messages, ${sum('connects')} connects`,
    )
    expect(violations).toEqual([])
    expect(sum('delivered')).toBeGreaterThan(SEEDS * 500)
    expect(sum('reported')).toBeGreaterThan(SEEDS * 500)
  }, 600_000)

  test.each(Object.entries(mutations))(
    `[LIVE-1] [LIVE-2] ${MUTANT_SEEDS} seeds detect the mutant: %s`,
    async (name, changes) => {
      const { violations } = run(MUTANT_SEEDS, await importMutant(name, changes))
      expect(violations).not.toEqual([])
    },
  )

  test('[LIVE-4] an event body that is read before the lock is detected', () => {
    expect(run(MUTANT_SEEDS, Hub, { readsBodyBeforeLock: true }).violations).not.toEqual([])
  })

  test('[LIVE-1] the same seed gives the same run', () => {
    expect(simulate(7, Hub)).toEqual(simulate(7, Hub))
  })
})

describe('the hub', () => {
  const SUBSCRIBERS = 10_000
  const PAGE = 100
  const message = (seq: number, at: string): LiveEvent => ({
    seq,
    type: 'card.updated',
    subject_id: null,
    body: `{"type":"card.updated","data":{"timestamp":"1999-01-01T00:00:00.000Z"},"user_id":null,"timestamp":"${at}","version":"1.0"}`,
  })

  /** A hub whose environment is a queue of pending work. */
  function bareHub() {
    const reported: Delivery[] = []
    const work: (() => void)[] = []
    const log: LiveEvent[] = []
    const hub = new Hub({
      now: () => 0,
      after: () => () => {},
      soon: (next) => void work.push(next),
      random: () => 0.5,
      readEvents: (_board_id, after, done) =>
        void work.push(() => done(log.filter(({ seq }) => seq > after).slice(0, PAGE))),
      readHeads: (_ids, done) => void work.push(() => done(new Map([['b', { epoch: 1, seq: log.length }]]))),
      subscribe: () => {},
      unsubscribe: () => {},
      onDelivered: (delivery) => void reported.push(delivery),
    })
    let written = 0
    const subscriber = () => ({
      user_id: 'u',
      authorizedAtSeq: 0,
      wantsSeq: true,
      write: (events: readonly LiveEvent[]) => {
        written += events.length
        return false
      },
      sendResync: () => {},
      evict: () => {},
    })
    const runAll = () => {
      for (let next = work.shift(); next; next = work.shift()) next()
    }
    return { hub, reported, log, subscriber, runAll, written: () => written }
  }

  test('[OBS-6] onDelivered is called once per event, however many subscribers there are, after the last one was sent it', () => {
    const { hub, reported, subscriber, runAll, written } = bareHub()
    for (let i = 0; i < SUBSCRIBERS; i++) hub.join('b', 1, subscriber())
    hub.onMessage('b', 1, { ...message(1, '2026-01-01T00:00:00.000Z'), committedAt: 5 })
    expect(reported).toEqual([])
    runAll()
    expect(written()).toBe(SUBSCRIBERS)
    expect(hub.counts.delivered).toBe(SUBSCRIBERS)
    expect(reported.map(({ event, source }) => [event.seq, source])).toEqual([[1, 'here']])
  })

  test('[OBS-5] deliveries name their source, bus or log, and none is reported without subscribers', () => {
    const { hub, reported, log, subscriber, runAll } = bareHub()
    const one = subscriber()
    hub.join('b', 1, one)
    runAll()
    log.push(message(1, '2026-01-01T00:00:00.000Z'), message(2, '2026-01-01T00:00:00.000Z'))
    hub.reconcile()
    runAll()
    hub.onMessage('b', 1, message(3, '2026-01-01T00:00:00.000Z'))
    runAll()
    expect(reported.map(({ event, source }) => [event.seq, source])).toEqual([
      [1, 'log'],
      [2, 'log'],
      [3, 'bus'],
    ])
    expect(hub.counts).toMatchObject({ fills: 1, filled: 2, delivered: 3 })
    hub.leave('b', one)
    hub.onMessage('b', 1, message(4, '2026-01-01T00:00:00.000Z'))
    runAll()
    expect(reported).toHaveLength(3)
  })

  test('[LIVE-2] the reorder buffer is bounded while the log cannot be read; the rest is read later', () => {
    const { hub, log, subscriber, runAll, written } = bareHub()
    hub.join('b', 1, subscriber())
    runAll()
    for (let seq = 1; seq <= 10_000; seq++) log.push(message(seq, '2026-01-01T00:00:00.000Z'))
    for (const event of log.slice(1)) hub.onMessage('b', 1, event)
    hub.reconcile()
    runAll()
    expect(written()).toBe(10_000)
    expect(hub.counts.filled).toBeGreaterThan(9_000)
  })

  test('[OBS-5] the delay of a local commit uses the monotonic clock, that of any other the timestamp in the event', () => {
    const at = '2026-01-01T00:00:00.000Z'
    const now = { monotonicMs: 1_250, wallMs: Date.parse(at) + 400 }
    const event = message(1, at)
    expect(delayOf({ event: { ...event, committedAt: 1_000 }, source: 'here' }, now)).toBe(0.25)
    expect(delayOf({ event, source: 'bus' }, now)).toBe(0.4)
    expect(delayOf({ event, source: 'log' }, now)).toBe(0.4)
    // A clock ahead of this one, and a body without a timestamp.
    expect(delayOf({ event, source: 'bus' }, { ...now, wallMs: Date.parse(at) - 90 })).toBe(0)
    expect(delayOf({ event: { ...event, body: '{}' }, source: 'bus' }, now)).toBeUndefined()
  })
})
