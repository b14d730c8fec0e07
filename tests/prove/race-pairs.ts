import { startStores } from '@lockstep/testing/environment'
import { errorsIn } from '@lockstep/testing/log-errors'
import { countDeadlocks } from '../fuzz/monitor.ts'
import { checkDatabase } from '../race-pairs/check.ts'
import { startRaceEnvironment } from '../race-pairs/environment.ts'
import { race } from '../race-pairs/run.ts'
import { pairs, writeNames } from '../race-pairs/writes.ts'
import { atLeast, collectFigures, equals, info, type Progress, type Report } from './report.ts'

const SIZE = { rounds: Number(process.env['ROUNDS'] ?? 200), concurrency: 6 }

/** Every two writes of the contract race on one board, at two instances and at one. */
export async function prove(progress: Progress): Promise<Report> {
  await using stores = await startStores()
  const { postgres, redis } = stores
  const { figures, violations, add } = collectFigures(progress)
  const environment = await startRaceEnvironment(stores.url('lockstep'), redis.url)
  const results = await race(environment, pairs, SIZE, (done, found) =>
    progress(`races: ${done} of ${pairs.length} pairs, ${found} violations`),
  )
  const errors = environment.services.flatMap(({ output }) => errorsIn(output()))
  violations.push(...results.violations, ...(await checkDatabase(environment.sql)), ...errors)
  const serverErrors = [...results.rejections].filter(([met]) => met.startsWith('5')).reduce((sum, [, n]) => sum + n, 0)
  // PostgreSQL updates its counter when a connection ends.
  for (const service of environment.services) await service.end()
  const deadlocks = await countDeadlocks(environment.sql)
  await environment.sql.end()
  const logged =
    postgres
      .process()
      .output()
      .match(/deadlock detected/g) ?? []
  add(
    equals('pairs of operations', results.pairs, (writeNames.length * (writeNames.length + 1)) / 2),
    atLeast('races', results.rounds, pairs.length * SIZE.rounds),
    info('requests, preparation included', results.requests),
    info('requests per second', results.requests / results.seconds),
    info('races at one instance', results.atOneInstance),
    info('races in which both succeeded', results.bothSucceeded),
    info(
      'rejections of the second request',
      [...results.rejections.values()].reduce((sum, times) => sum + times, 0),
    ),
    equals('responses with 5xx', serverErrors, 0),
    equals('deadlocks counted by PostgreSQL', deadlocks, 0),
    equals('deadlocks in its log', logged.length, 0),
    equals('errors in the log of the service', errors.length, 0),
    equals('broken guarantees', results.violations.length, 0),
  )
  return { figures, violations }
}
