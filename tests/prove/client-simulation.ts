import { simulateDriver } from '@lockstep/testing/client/driver-simulation'
import {
  coreMutations,
  driverMutations,
  mutantBoard,
  mutantCore,
  removeMutants,
  weaknesses,
} from '@lockstep/testing/client/mutants'
import { type CoreClass, type Outcome, simulate } from '@lockstep/testing/client/sync-simulation'
import { BoardCore } from '../../packages/client/src/live/core.ts'
import { LiveBoard } from '../../packages/client/src/live/live-board.ts'
import { equals, info, type Progress, type Report } from './report.ts'

const SEEDS = 5_000
const DRIVER_SEEDS = 1_500
const MUTANT_SEEDS = 200

/** The core of the client in its simulated environment, over many seeds. A violation names its seed. */
export async function prove(progress: Progress): Promise<Report> {
  const outcomes: Outcome[] = []
  for (let seed = 1; seed <= SEEDS; seed++) {
    outcomes.push(simulate(seed, BoardCore))
    if (seed % 500 === 0) progress(`client simulation: ${seed} of ${SEEDS} schedules`)
  }
  const violations = outcomes.flatMap((outcome) => outcome.violations)
  for (let seed = 1; seed <= DRIVER_SEEDS; seed++) {
    for (const wrong of await simulateDriver(seed, LiveBoard)) violations.push(`driver, seed ${seed}: ${wrong}`)
    if (seed % 500 === 0) progress(`client driver: ${seed} of ${DRIVER_SEEDS} schedules`)
  }
  const found: [string, number | undefined][] = []
  for (const [name, changes] of Object.entries(coreMutations))
    found.push([name, noticed(await mutantCore(name, changes))])
  for (const [name, options] of Object.entries(weaknesses)) found.push([name, noticed(BoardCore, options)])
  for (const [name, mutation] of Object.entries(driverMutations))
    found.push([`driver: ${name}`, await noticedByDriver(await mutantBoard(name, ...mutation))])
  removeMutants('core')
  removeMutants('driver')
  const missed = found.filter(([, seeds]) => seeds === undefined)
  violations.push(...missed.map(([name]) => `not detected: ${name}`))

  const sum = (key: Exclude<keyof Outcome, 'violations'>) =>
    outcomes.reduce((total, outcome) => total + outcome[key], 0)
  return {
    violations,
    figures: [
      info('seeds of the core', SEEDS),
      info('seeds of the driver, with timers and connections', DRIVER_SEEDS),
      info('steps, each checked', sum('steps')),
      info('changes by users', sum('changes')),
      info('events', sum('events')),
      info('requests or responses lost', sum('lost')),
      info('changes rejected', sum('rejected')),
      info('full boards loaded', sum('loads')),
      info('pages reloaded', sum('reloads')),
      info('backups restored', sum('restores')),
      info('confirmations that did not change the view', sum('confirmations')),
      info('seeded defects', found.length),
      equals('seeded defects that were not detected', missed.length, 0),
      info('most seeds until a defect was detected', Math.max(...found.map(([, seeds]) => seeds ?? 0))),
    ],
  }
}

function noticed(Core: CoreClass, options = {}): number | undefined {
  for (let seed = 1; seed <= MUTANT_SEEDS; seed++) if (simulate(seed, Core, options).violations.length > 0) return seed
  return undefined
}

async function noticedByDriver(Board: typeof LiveBoard): Promise<number | undefined> {
  for (let seed = 1; seed <= MUTANT_SEEDS; seed++) if ((await simulateDriver(seed, Board)).length > 0) return seed
  return undefined
}
