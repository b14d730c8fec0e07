import { BoardCore } from '../../packages/client/src/live/core.ts'
import { LiveBoard } from '../../packages/client/src/live/live-board.ts'
import { simulateDriver } from '../../packages/client/testing/driver-simulation.ts'
import {
  driverMutations,
  mutant,
  mutantBoard,
  mutations,
  removeMutants,
  weaknesses,
} from '../../packages/client/testing/mutants.ts'
import { type CoreClass, type Outcome, simulate } from '../../packages/client/testing/sync-simulation.ts'
import type { Progress, Report } from './report.ts'

const SEEDS = 5_000
const DRIVER_SEEDS = 1_500
const MUTANT_SEEDS = 200

/** The client's core in its simulated world, over many seeds. A violation names its seed, and comes back with it. */
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
  for (const [name, changes] of Object.entries(mutations)) found.push([name, noticed(await mutant(name, changes))])
  for (const [name, options] of Object.entries(weaknesses)) found.push([name, noticed(BoardCore, options)])
  for (const [name, mutation] of Object.entries(driverMutations))
    found.push([`driver: ${name}`, await noticedByDriver(await mutantBoard(name, ...mutation))])
  removeMutants('core')
  removeMutants('driver')
  for (const [name, seeds] of found) if (seeds === undefined) violations.push(`It is not noticed when ${name}`)

  const sum = (key: Exclude<keyof Outcome, 'violations'>) =>
    outcomes.reduce((total, outcome) => total + outcome[key], 0).toLocaleString('en')
  return {
    title: 'The client in simulation',
    setting: {
      core: `seeds 1 to ${SEEDS}: 1 to 4 clients of one board, then healing`,
      driver: `seeds 1 to ${DRIVER_SEEDS}: 1 to 3 live boards in virtual time, then two minutes to heal`,
    },
    violations,
    sections: [
      {
        heading: 'What happened',
        text: 'Events lost, repeated and out of order, sockets that break off, requests and answers that are lost, pages that are loaded anew, backups that are put back, rules that answer, neighbours that make room, several tabs of one user. After every step the base is the server’s board at its position; nothing that is shown moves when it is confirmed; in the end everybody shows the server’s board, and every change was applied once.',
        table: {
          columns: ['', 'in all'],
          rows: [
            ['steps, each checked', sum('steps')],
            ['changes by users', sum('changes')],
            ['events', sum('events')],
            ['events of neighbours that made room, or of rules', sum('room')],
            ['requests or answers lost', sum('lost')],
            ['changes rejected', sum('rejected')],
            ['changes dropped because their target was gone', sum('gone')],
            ['whole boards loaded', sum('loads')],
            ['pages loaded anew', sum('reloads')],
            ['pages that began with a stored board', sum('stored')],
            ['boards that a cache answered, mostly old ones', sum('stale')],
            ['backups put back', sum('restores')],
            ['confirmations after which the view was the same', sum('confirmations')],
            ['answers after which the view was the same', sum('acknowledgements')],
            ['placements beside the neighbour that the user saw', sum('anchors')],
          ],
        },
      },
      {
        heading: 'What would be noticed',
        text: 'The same with one rule switched off: how many schedules it takes until a promise is broken.',
        table: {
          columns: ['mistake', 'schedules'],
          rows: found.map(([name, seeds]) => [name, seeds ?? 'not noticed']),
        },
      },
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
