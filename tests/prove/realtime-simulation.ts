import { Hub } from '../../packages/server/src/realtime/hub.ts'
import { type Outcome, simulate } from '../../packages/server/testing/hub-simulation.ts'
import type { Progress, Report } from './report.ts'

const SEEDS = 3_000

/** The hub in its simulated world, over many seeds. A violation names its seed, and comes back with it. */
export async function prove(progress: Progress): Promise<Report> {
  const outcomes: Outcome[] = []
  for (let seed = 1; seed <= SEEDS; seed++) {
    outcomes.push(simulate(seed, Hub))
    if (seed % 500 === 0) progress(`simulation: ${seed} of ${SEEDS} seeds`)
  }
  const sum = (key: 'events' | 'delivered' | 'lost' | 'connects' | 'fills') =>
    outcomes.reduce((total, outcome) => total + outcome[key], 0)
  const row = (name: string, key: Parameters<typeof sum>[0]) => [name, sum(key).toLocaleString('en')]
  return {
    title: 'The hub in simulation',
    setting: { seeds: `1 to ${SEEDS}`, world: '3 instances, 3 boards, 9 clients, 30 s of faults each, then healing' },
    violations: outcomes.flatMap((outcome) => outcome.violations),
    sections: [
      {
        heading: 'What happened',
        text: 'Lost, doubled and reordered messages, crashes between commit and announcement, Redis and the log coming and going, killed instances, slow readers, removals and reconnects.',
        table: {
          columns: ['', 'in all'],
          rows: [
            row('events committed', 'events'),
            row('events delivered', 'delivered'),
            row('messages lost', 'lost'),
            row('connects', 'connects'),
            row('reads of the log', 'fills'),
          ],
        },
      },
    ],
  }
}
