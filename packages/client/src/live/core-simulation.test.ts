import { coreMutations, mutantCore, removeMutants, weaknesses } from '@lockstep/testing/client/mutants'
import { type CoreClass, type Outcome, simulate } from '@lockstep/testing/client/sync-simulation'
import { afterAll, describe, expect, test } from 'vitest'
import { BoardCore } from './core.ts'

const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? 200)
const MUTANT_SEEDS = 150
afterAll(() => removeMutants('core'))

/** The number of seeds until a defect is detected. */
function seedsUntilDetected(Core: CoreClass, options = {}): number {
  for (let seed = 1; seed <= MUTANT_SEEDS; seed++) if (simulate(seed, Core, options).violations.length > 0) return seed
  return Number.POSITIVE_INFINITY
}

describe('simulation of the core', () => {
  test(`[SYNC-1] [SYNC-2] [SYNC-3] [SYNC-4] [SYNC-5] [SYNC-6] [SYNC-23] [SYNC-31] [SYNC-32] no violation in ${SEEDS} seeds with lost, repeated and reordered messages, reloads, stale boards and lost responses`, () => {
    const outcomes: Outcome[] = []
    for (let seed = 1; seed <= SEEDS; seed++) outcomes.push(simulate(seed, BoardCore))
    expect(outcomes.flatMap(({ violations }) => violations)).toEqual([])
    // The simulation must exercise each case, or it proves nothing.
    const sum = (key: 'confirmations' | 'room' | 'lost' | 'own' | 'foreign' | 'stale' | 'stored') =>
      outcomes.reduce((total, outcome) => total + outcome[key], 0)
    expect(sum('confirmations')).toBeGreaterThan(SEEDS * 20)
    expect(sum('room')).toBeGreaterThan(SEEDS)
    expect(sum('lost')).toBeGreaterThan(SEEDS)
    expect(Math.min(sum('stale'), sum('stored'))).toBeGreaterThan(SEEDS / 5)
    expect(Math.min(sum('own'), sum('foreign'))).toBeGreaterThan(SEEDS * 10)
  }, 120_000)

  test.each(Object.entries(coreMutations))(
    `[SYNC-2] [SYNC-3] [SYNC-32] detected within ${MUTANT_SEEDS} seeds: %s`,
    async (name, changes) => {
      expect(seedsUntilDetected(await mutantCore(name, changes))).toBeLessThanOrEqual(MUTANT_SEEDS)
    },
    60_000,
  )

  test.each(Object.entries(weaknesses))(`[SYNC-2] [SYNC-5] detected within ${MUTANT_SEEDS} seeds: %s`, (_, options) => {
    expect(seedsUntilDetected(BoardCore, options)).toBeLessThanOrEqual(MUTANT_SEEDS)
  })

  test('[SYNC-1] a seed is reproducible', () => {
    expect(simulate(7, BoardCore)).toEqual(simulate(7, BoardCore))
  })
})
