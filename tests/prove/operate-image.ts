import { join } from 'node:path'
import { endProcesses } from '../../packages/server/testing/processes.ts'
import { sizeOf } from '../../scripts/image.ts'
import { failed, judge } from '../acceptance-suite.ts'
import { imageOf, makeRole, newSettings, runInImage, startInstance } from '../deploy/instances.ts'
import { startHaproxy, startNginx } from '../deploy/proxies.ts'
import { atMost, collectGoals, is, told } from './goals.ts'
import type { Progress, Report } from './report.ts'

const megabytes = async (folder: string) => (await sizeOf(folder)) / 1e6

/** The image in a plain directory, and two instances of it behind each proxy, before the whole acceptance suite. */
export async function prove(progress: Progress): Promise<Report> {
  const goals = collectGoals(progress)
  const { settings, drop } = await newSettings()
  const role = Promise.withResolvers<Awaited<ReturnType<typeof makeRole>>>()
  try {
    const began = performance.now()
    const { image } = await imageOf()
    const at = (path: string) => megabytes(join(image.folder, path))
    goals.add('The image', 'What the steps of the Dockerfile leave in the last stage, which begins with nothing.', [
      told('steps executed in', (performance.now() - began) / 1_000, 's'),
      told('Node.js', await at('usr'), 'MB'),
      told('libraries', (await at('lib')) + (await at('lib64')), 'MB'),
      told('packages', await at('srv/lockstep/node_modules'), 'MB'),
      told('service and web client', await at('srv/lockstep/packages'), 'MB'),
      atMost('all', await megabytes(image.folder), 200, 'MB'),
    ])
    const migrating = runInImage(image, ['node', 'packages/server/src/administration/admin.ts', 'migrate'], settings)
    if ((await migrating.ended) !== 0) throw new Error(migrating.output())
    role.resolve(await makeRole(settings.DATABASE_URL))
    const { url: DATABASE_URL } = await role.promise
    const started = { ...settings, DATABASE_URL, MIGRATE_ON_START: 'false', LOG_LEVEL: 'warn' }
    const [one, two] = [await startInstance(image, started), await startInstance(image, started)]
    for (const [name, start] of Object.entries({ HAProxy: startHaproxy, nginx: startNginx })) {
      const proxy = await start([one.port, two.port])
      progress(`the acceptance suite through ${name}`)
      const { results, seconds } = await judge(proxy.base_url, '--beside', two.base_url)
      for (const id of failed(results)) goals.fail(`${name}: ${id}`)
      const text =
        'Two instances, as a role that may change rows and nothing else. Rows that wait for heartbeats are among them.'
      goals.add(`The acceptance suite through ${name}`, text, [
        told('rows', results.filter(({ outcome }) => outcome !== 'not visible').length, ''),
        is('failed', failed(results).length, 0),
        is('not run', results.filter(({ outcome }) => outcome === 'not run').length, 0),
        told('time', seconds, 's'),
      ])
    }
  } finally {
    await endProcesses()
    role.reject(new Error('There is no role'))
    await role.promise.then(
      (made) => made.drop(),
      () => undefined,
    )
    await drop()
  }
  const { sections, violations } = goals
  return { title: 'The image, and two instances behind a proxy', setting: { instances: 2 }, sections, violations }
}
