import { type Outcome, simulate } from '@lockstep/testing/hub-simulation'
import { Hub } from '../../packages/server/src/realtime/hub.ts'
import { info, type Progress, type Report } from './report.ts'

const SEEDS = 3_000

/** The hub in its simulated environment, over many seeds. A violation names its seed. */
export async function prove(progress: Progress): Promise<Report> {
  const outcomes: Outcome[] = []
  for (let seed = 1; seed <= SEEDS; seed++) {
    outcomes.push(simulate(seed, Hub))
    if (seed % 500 === 0) progress(`simulation: ${seed} of ${SEEDS} seeds`)
  }
  const sum = (key: 'events' | 'delivered' | 'lost' | 'connects' | 'fills') =>
    outcomes.reduce((total, outcome) => total + outcome[key], 0)
  return {
    violations: outcomes.flatMap((outcome) => outcome.violations),
    figures: [
      info('seeds', SEEDS),
      info('events committed', sum('events')),
      info('events delivered', sum('delivered')),
      info('messages lost', sum('lost')),
      info('connections', sum('connects')),
      info('reads of the log', sum('fills')),
    ],
  }
}
