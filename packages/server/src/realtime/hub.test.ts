import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type HubClass, type Outcome, simulate } from '@lockstep/testing/hub-simulation'
import { afterAll, describe, expect, test } from 'vitest'
import { Hub, type LiveEvent, type Taken } from './hub.ts'
import { delayOf } from './socket-metrics.ts'

const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? 60)
const MUTANT_SEEDS = 20
const mutants = new URL('../../../../.test-output/mutants/', import.meta.url)
afterAll(() => rmSync(mutants, { recursive: true, force: true }))

/** Rules of the hub that are switched off one by one, in its own text: each must be missed. */
const mutations: Record<string, [rule: string, without: string][]> = {
  'the head is read before the bell can be heard': [
    ['this.outside.subscribe(board_id, () => this.probe(stage))', 'this.outside.subscribe(board_id, () => {})'],
    ['this.outside.readHeads([...this.stages.keys()], (heads) => {', 'this.outside.readHeads([], (heads) => {'],
  ],
  'the log is never asked on its own': [
    ['this.outside.readHeads([...this.stages.keys()], (heads) => {', 'this.outside.readHeads([], (heads) => {'],
  ],
  'reading the head moves the position': [
    ['else this.fill(stage, head.seq)', 'else stage.last = Math.max(stage.last, head.seq)'],
  ],
  'a gap is not filled': [
    ['    this.takeHeld(stage)\n  }', '    this.take(stage, event)\n  }'],
    ['if (event.seq !== stage.last + 1 && ', 'if (event.seq <= stage.last && '],
  ],
  'a viewer goes live before he has caught up': [
    [
      '      this.deliver(stage, seat, events)\n      this.serve(stage, seat)',
      '      this.deliver(stage, seat, events)\n      seat.next = stage.last + 1',
    ],
  ],
  'a viewer is not asked what he has': [
    [
      'const events = this.recent(stage, seat.next)',
      'const events = stage.ring.at(-1) ? stage.ring.slice(-1) : this.recent(stage, seat.next)',
    ],
  ],
  'a slow viewer misses events': [
    ['    if (held) this.markFull(', '    if (held) seat.next = stage.last + 2\n    if (held) this.markFull('],
  ],
  'a slow viewer is forgotten': [['    this.release(seat)\n    this.serve(stage, seat)', '    return']],
  'a removed member stays': [
    [
      "(type === 'board.member_removed' && subject_id === viewer.user_id",
      "(type === 'nothing' && subject_id === viewer.user_id",
    ],
  ],
  'an event is said to be delivered twice': [['    stage.taken = stage.taken.slice(done.length)\n', '']],
  'an old removal cuts a member who came back': [[' && seq > viewer.enteredAt)', ')']],
}

async function mutant(name: string, changes: [string, string][]): Promise<HubClass> {
  const source = readFileSync(new URL('hub.ts', import.meta.url), 'utf8')
  const text = changes.reduce((before, [rule, without]) => {
    expect(before, `the hub no longer has: ${rule}`).toContain(rule)
    return before.replace(rule, without)
  }, source)
  mkdirSync(mutants, { recursive: true })
  const file = new URL(`${name.replaceAll(' ', '-')}.ts`, mutants)
  writeFileSync(file, text)
  return ((await import(fileURLToPath(file))) as { Hub: HubClass }).Hub
}

function run(seeds: number, HubUnderTest: HubClass, options = {}) {
  const outcomes: Outcome[] = []
  for (let seed = 1; seed <= seeds; seed++) outcomes.push(simulate(seed, HubUnderTest, options))
  const sum = (key: 'events' | 'delivered' | 'lost' | 'connects' | 'told') =>
    outcomes.reduce((total, o) => total + o[key], 0)
  return { outcomes, violations: outcomes.flatMap((o) => o.violations), sum }
}

describe('the hub in simulation', () => {
  test(`[LIVE-1] [LIVE-2] [LIVE-3] ${SEEDS} seeds of loss, kills, slow readers and reconnects break no promise`, () => {
    const { violations, sum } = run(SEEDS, Hub)
    console.log(
      `${SEEDS} seeds: ${sum('events')} events, ${sum('delivered')} deliveries, ${sum('lost')} lost messages, ${sum('connects')} connects`,
    )
    expect(violations).toEqual([])
    expect(sum('delivered')).toBeGreaterThan(SEEDS * 500)
    expect(sum('told')).toBeGreaterThan(SEEDS * 500)
  }, 600_000)

  test.each(Object.entries(mutations))(
    `[LIVE-1] [LIVE-2] it is noticed within ${MUTANT_SEEDS} seeds when %s`,
    async (name, changes) => {
      const { violations } = run(MUTANT_SEEDS, await mutant(name, changes))
      expect(violations).not.toEqual([])
    },
  )

  test('[LIVE-4] it is noticed when a body is read before the lock', () => {
    expect(run(MUTANT_SEEDS, Hub, { readsBodyBeforeLock: true }).violations).not.toEqual([])
  })

  test('[LIVE-1] a seed can be played again', () => {
    expect(simulate(7, Hub)).toEqual(simulate(7, Hub))
  })
})

describe('what the hub tells of itself', () => {
  const AUDIENCE = 10_000
  const PAGE = 100
  const message = (seq: number, at: string): LiveEvent => ({
    seq,
    type: 'card.updated',
    subject_id: null,
    body: `{"type":"card.updated","data":{"timestamp":"1999-01-01T00:00:00.000Z"},"user_id":null,"timestamp":"${at}","version":"1.0"}`,
  })

  /** A hub whose only world is a list of work to be done. */
  function bareHub() {
    const told: Taken[] = []
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
      delivered: (taken) => void told.push(taken),
    })
    let written = 0
    const viewer = () => ({
      user_id: 'u',
      enteredAt: 0,
      knowsSeq: true,
      write: (events: readonly LiveEvent[]) => {
        written += events.length
        return undefined
      },
      resync: () => {},
      end: () => {},
    })
    const settle = () => {
      for (let next = work.shift(); next; next = work.shift()) next()
    }
    return { hub, told, log, viewer, settle, written: () => written }
  }

  test('[OBS-6] one call for an event, whatever the size of the audience, and only when everybody has it', () => {
    const { hub, told, viewer, settle, written } = bareHub()
    for (let i = 0; i < AUDIENCE; i++) hub.join('b', 1, viewer())
    hub.heard('b', 1, { ...message(1, '2026-01-01T00:00:00.000Z'), committedAt: 5 })
    expect(told).toEqual([])
    settle()
    expect(written()).toBe(AUDIENCE)
    expect(hub.counts.delivered).toBe(AUDIENCE)
    expect(told.map(({ event, source }) => [event.seq, source])).toEqual([[1, 'here']])
  })

  test('[OBS-5] it tells what came by the bell, what from the log, and nothing when nobody is there', () => {
    const { hub, told, log, viewer, settle } = bareHub()
    const one = viewer()
    hub.join('b', 1, one)
    settle()
    log.push(message(1, '2026-01-01T00:00:00.000Z'), message(2, '2026-01-01T00:00:00.000Z'))
    hub.reconcile()
    settle()
    hub.heard('b', 1, message(3, '2026-01-01T00:00:00.000Z'))
    settle()
    expect(told.map(({ event, source }) => [event.seq, source])).toEqual([
      [1, 'log'],
      [2, 'log'],
      [3, 'bus'],
    ])
    expect(hub.counts).toMatchObject({ fills: 1, filled: 2, delivered: 3 })
    hub.leave('b', one)
    hub.heard('b', 1, message(4, '2026-01-01T00:00:00.000Z'))
    settle()
    expect(told).toHaveLength(3)
  })

  test('[LIVE-2] what comes behind a gap while the log cannot be read is kept up to a bound, and the rest read later', () => {
    const { hub, log, viewer, settle, written } = bareHub()
    hub.join('b', 1, viewer())
    settle()
    for (let seq = 1; seq <= 10_000; seq++) log.push(message(seq, '2026-01-01T00:00:00.000Z'))
    for (const event of log.slice(1)) hub.heard('b', 1, event)
    hub.reconcile()
    settle()
    expect(written()).toBe(10_000)
    expect(hub.counts.filled).toBeGreaterThan(9_000)
  })

  describe('what slow viewers hold together', () => {
    const MEBIBYTE = 1_048_576
    const large = (mebibytes: number): LiveEvent => ({
      ...message(1, '2026-01-01T00:00:00.000Z'),
      body: 'x'.repeat(mebibytes * MEBIBYTE),
    })
    /** A hub with viewers who take nothing; those who are given the same events hold the same memory, as sockets do. */
    function slowHub(event: LiveEvent) {
      const bare = bareHub()
      bare.log.push(event)
      const ended: string[] = []
      const memory = new WeakMap<readonly LiveEvent[], { length: number }>()
      const slow = (user_id: string) => ({
        user_id,
        enteredAt: 0,
        knowsSeq: true,
        write: (events: readonly LiveEvent[]) => {
          const held = memory.get(events) ?? { length: events.reduce((sum, { body }) => sum + body.length, 0) }
          memory.set(events, held)
          return held
        },
        resync: () => {},
        end: (why: string) => void ended.push(`${user_id} ${why}`),
      })
      return { ...bare, slow, ended }
    }

    test('[LIVE-13] the viewers of the user who holds the most are closed, and an event for many counts once', () => {
      const { hub, settle, slow, ended } = slowHub(large(20))
      for (const board of ['a', 'b', 'c']) hub.join(board, 1, slow('greedy'))
      for (let i = 0; i < 10; i++) hub.join('d', 1, slow(`crowd ${i}`))
      for (const board of ['a', 'b', 'c', 'd']) hub.announced(board, 1, 1)
      settle()
      expect(ended).toEqual(['greedy slow', 'greedy slow', 'greedy slow'])
    })

    test('[LIVE-13] the same event counts again each time it is read from the log', () => {
      const { hub, settle, slow, ended } = slowHub(large(20))
      const join = () => {
        hub.join('a', 1, slow('greedy'))
        hub.announced('a', 1, 1)
        settle()
      }
      for (let i = 0; i < 3; i++) join()
      expect(ended).toEqual([])
      join()
      expect(ended).toHaveLength(4)
    })

    test('[LIVE-13] what was read, and what those held who left, counts no longer', () => {
      const { hub, settle, slow, ended } = slowHub(large(40))
      for (let i = 0; i < 4; i++) {
        const viewer = slow('one')
        hub.join('a', 1, viewer)
        hub.announced('a', 1, 1)
        settle()
        if (i % 2 === 0) hub.drained('a', viewer)
        else hub.leave('a', viewer)
      }
      expect(ended).toEqual([])
      expect(hub.state().slow).toEqual([])
    })

    test('[LIVE-13] an event that is larger than the total is delivered when nothing else is held', () => {
      const { hub, settle, slow, ended } = slowHub(large(65))
      hub.join('a', 1, slow('one'))
      hub.announced('a', 1, 1)
      settle()
      expect(ended).toEqual([])
    })
  })

  test('[OBS-5] a commit of this instance is measured by its own clock, any other by the time in the event', () => {
    const at = '2026-01-01T00:00:00.000Z'
    const now = { monotonicMs: 1_250, wallMs: Date.parse(at) + 400 }
    const event = message(1, at)
    expect(delayOf({ event: { ...event, committedAt: 1_000 }, source: 'here' }, now)).toBe(0.25)
    expect(delayOf({ event, source: 'bus' }, now)).toBe(0.4)
    expect(delayOf({ event, source: 'log' }, now)).toBe(0.4)
    // A clock that is ahead of this one, and a text that holds no time.
    expect(delayOf({ event, source: 'bus' }, { ...now, wallMs: Date.parse(at) - 90 })).toBe(0)
    expect(delayOf({ event: { ...event, body: '{}' }, source: 'bus' }, now)).toBeUndefined()
  })
})
