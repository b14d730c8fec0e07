import { endProcesses, startPostgres, startRedis } from '../../packages/server/testing/processes.ts'
import { countDeadlocks, errorsIn } from '../fuzz/watch.ts'
import { checkDatabase } from '../race-pairs/check.ts'
import { race } from '../race-pairs/run.ts'
import { setTrack } from '../race-pairs/stage.ts'
import { pairs, writeNames } from '../race-pairs/writes.ts'
import { atLeast, collectGoals, is, told } from './goals.ts'
import type { Progress, Report } from './report.ts'

const SIZE = { rounds: Number(process.env['ROUNDS'] ?? 200), at_once: 6 }

/** Every two writes of the contract race on one board, at two instances and at one, many times over. */
export async function prove(progress: Progress): Promise<Report> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
  const goals = collectGoals(progress)
  try {
    const track = await setTrack(postgres.url, redis.url)
    const raced = await race(track, pairs, SIZE, (done, violations) =>
      progress(`races: ${done} of ${pairs.length} pairs, ${violations} violations`),
    )
    goals.violations.push(...raced.violations, ...(await checkDatabase(track.sql)))
    const errors = track.services.flatMap(({ output }) => errorsIn(output()))
    goals.violations.push(...errors)
    const server_errors = [...raced.refusals].filter(([met]) => met.startsWith('5')).reduce((sum, [, n]) => sum + n, 0)
    // What PostgreSQL counted is told when its connections end.
    for (const service of track.services) await service.end()
    const deadlocks = await countDeadlocks(track.sql)
    await track.sql.end()
    goals.add(
      'Two at once',
      `Each of the ${writeNames.length} operations that change a board against each, itself included: by two owners, about the same things, each at another instance, and in every third round both at the same one. Whoever came first must succeed, since everything was there for him, and the second unless the first took something away; what was acknowledged has a position of its own. The board is held against its log after each pair.`,
      [
        is('pairs', raced.pairs, (writeNames.length * (writeNames.length + 1)) / 2),
        atLeast('rounds', raced.rounds, pairs.length * SIZE.rounds),
        told('requests, those that prepare included', raced.requests),
        told('requests each second', raced.requests / raced.seconds),
        told('rounds in which both came to one instance', raced.at_one_instance),
        told('rounds in which both succeeded', raced.both_succeeded),
        is('answers of 5xx', server_errors, 0),
        is('deadlocks that PostgreSQL counted', deadlocks, 0),
        is(
          'deadlocks in its log',
          (
            postgres
              .process()
              .output()
              .match(/deadlock detected/g) ?? []
          ).length,
          0,
        ),
        is('errors that the service logged', errors.length, 0),
        is('broken promises', raced.violations.length, 0),
      ],
    )
    goals.sections.push({
      heading: 'What the second of two was told',
      table: { columns: ['answer', 'times'], rows: [...raced.refusals].sort(([, a], [, b]) => b - a) },
    })
    return {
      title: 'Every two writes at once',
      setting: { rounds: SIZE.rounds, boards_at_once: SIZE.at_once, instances: 2 },
      sections: goals.sections,
      violations: goals.violations,
    }
  } finally {
    await endProcesses()
  }
}
