import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { type HubClass, type Outcome, simulate } from '#testing/hub-simulation'
import { Hub } from './hub.ts'

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
    ['    seat.full = { since', '    seat.next = stage.last + 2\n    seat.full = { since'],
  ],
  'a slow viewer is forgotten': [['    seat.full = undefined\n    this.serve(stage, seat)', '    return']],
  'a removed member stays': [
    [
      "(type === 'board.member_removed' && subject_id === viewer.user_id",
      "(type === 'nothing' && subject_id === viewer.user_id",
    ],
  ],
  'an old removal cuts a member who came back': [[' && seq > viewer.entered_at)', ')']],
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
  const sum = (key: 'events' | 'delivered' | 'lost' | 'connects') => outcomes.reduce((total, o) => total + o[key], 0)
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
