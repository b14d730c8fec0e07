import { simulateDriver } from '@lockstep/testing/client/driver-simulation'
import { driverMutations, mutantBoard, removeMutants } from '@lockstep/testing/client/mutants'
import { afterAll, describe, expect, test } from 'vitest'
import { LiveBoard } from './live-board.ts'

const MUTANT_SEEDS = 60
const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? 60)

afterAll(() => removeMutants('driver'))

describe('simulation of live boards', () => {
  test(`[SYNC-19] [SYNC-30] [SYNC-32] after ${SEEDS} seeds of faults, reloads and stale boards, every client is live with the server’s board, and nothing is pending or lost`, async () => {
    for (let seed = 1; seed <= SEEDS; seed++) expect(await simulateDriver(seed, LiveBoard), `seed ${seed}`).toEqual([])
  }, 120_000)

  test.each(Object.entries(driverMutations))(
    `[SYNC-19] [SYNC-30] detected within ${MUTANT_SEEDS} seeds: %s`,
    async (name, [file, rule, without]) => {
      const Board = await mutantBoard(name, file, rule, without)
      let detectedBy = 0
      for (let seed = 1; seed <= MUTANT_SEEDS && detectedBy === 0; seed++)
        if ((await simulateDriver(seed, Board)).length > 0) detectedBy = seed
      expect(detectedBy).toBeGreaterThan(0)
    },
    60_000,
  )
})
