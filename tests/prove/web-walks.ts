import { openBrowser } from '@lockstep/testing/browser'
import { Client } from '@lockstep/testing/client'
import { startBare } from '@lockstep/testing/load/environment'
import { endProcesses, startPostgres, startRedis } from '@lockstep/testing/processes'
import { buildWebIfOld } from '../../scripts/build-web.ts'
import { openRandomWalk, type WalkOutcome } from '../web/random-walks.ts'
import { join } from '../web/speed-measurements.ts'
import { info, type Progress, type Report } from './report.ts'

const WALKS = 100
const FIRST_SEED = Number(process.env['WALK_SEED'] ?? 1)

/** Random walks through the web client, with the back/forward cache of the browser and without: no change is lost. */
export async function prove(progress: Progress): Promise<Report> {
  await buildWebIfOld()
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
  const outcomes: [hasPageCache: boolean, WalkOutcome][] = []
  try {
    const { baseUrl } = await startBare({ DATABASE_URL: postgres.url, REDIS_URL: redis.url })
    const walker = async (username: string) => {
      const person = await join(baseUrl, username)
      return { ...person, api: new Client(baseUrl, person.token) }
    }
    const people = { ada: await walker('ada'), grace: await walker('grace') }
    const walkAll = async (hasPageCache: boolean) => {
      const browser = await openBrowser({ hasPageCache })
      const { walk } = await openRandomWalk({ baseUrl, browser, hasPageCache, ...people })
      for (let n = 1; n <= WALKS; n++) {
        const outcome = await walk(FIRST_SEED + n - 1)
        outcomes.push([hasPageCache, outcome])
        for (const violation of outcome.violations) progress(violation)
        if (n % 10 === 0)
          progress(`walks ${hasPageCache ? 'with' : 'without'} the back/forward cache: ${n} of ${WALKS}`)
      }
      await browser.close()
    }
    await Promise.all([walkAll(false), walkAll(true)])
  } finally {
    await endProcesses()
  }
  const sum = (key: Exclude<keyof WalkOutcome, 'violations'>) =>
    outcomes.reduce((total, [, outcome]) => total + outcome[key], 0)
  return {
    violations: outcomes.flatMap(([hasPageCache, { violations }]) =>
      violations.map((each) => `${hasPageCache ? 'with' : 'without'} the back/forward cache, ${each}`),
    ),
    figures: [
      info('walks', outcomes.length),
      info('first seed', FIRST_SEED),
      info('steps', sum('steps')),
      info('changes by the user', sum('changes')),
      info('changes made offline', sum('offlineChanges')),
      info('changes rejected because of the other user', sum('rejected')),
      info('changes by the other user', sum('others')),
      info('navigations', sum('navigations')),
      info('pages restored from the back/forward cache', sum('restored')),
    ],
  }
}
