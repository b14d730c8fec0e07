import { openBrowser } from '../../packages/server/testing/browser.ts'
import { Client } from '../../packages/server/testing/client.ts'
import { endProcesses, startPostgres, startRedis } from '../../packages/server/testing/processes.ts'
import { buildWebIfOld } from '../../scripts/build-web.ts'
import { openWalk, type WalkOutcome } from '../web/walks.ts'
import { startBare } from './realtime-stage.ts'
import type { Progress, Report } from './report.ts'
import { join } from '../web/speed-measures.ts'

const WALKS = 100
const FIRST_SEED = Number(process.env['WALK_SEED'] ?? 1)

/** Random walks through the pages of a browser, with its back/forward cache and without: no change of the user is lost. */
export async function prove(progress: Progress): Promise<Report> {
  await buildWebIfOld()
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
  const outcomes: [has_page_cache: boolean, WalkOutcome][] = []
  try {
    const { base_url } = await startBare({ DATABASE_URL: postgres.url, REDIS_URL: redis.url })
    const walker = async (username: string) => {
      const person = await join(base_url, username)
      return { ...person, api: new Client(base_url, person.token) }
    }
    const people = { ada: await walker('ada'), grace: await walker('grace') }
    const walkAll = async (has_page_cache: boolean) => {
      const browser = await openBrowser({ has_page_cache })
      const { walk } = await openWalk({ base_url, browser, has_page_cache, ...people })
      for (let n = 1; n <= WALKS; n++) {
        const outcome = await walk(FIRST_SEED + n - 1)
        outcomes.push([has_page_cache, outcome])
        for (const violation of outcome.violations) progress(violation)
        if (n % 10 === 0)
          progress(`walks ${has_page_cache ? 'with' : 'without'} the back/forward cache: ${n} of ${WALKS}`)
      }
      await browser.close()
    }
    await Promise.all([walkAll(false), walkAll(true)])
  } finally {
    await endProcesses()
  }
  const sum = (isCached: boolean, key: Exclude<keyof WalkOutcome, 'violations'>) =>
    outcomes.reduce((total, [has_page_cache, outcome]) => total + (has_page_cache === isCached ? outcome[key] : 0), 0)
  const row = (what: string, key: Exclude<keyof WalkOutcome, 'violations'>) => [what, sum(false, key), sum(true, key)]
  return {
    title: 'Random walks',
    setting: { walks: 2 * WALKS, seeds: `${FIRST_SEED} to ${FIRST_SEED + WALKS - 1}`, browser: 'chromium' },
    violations: outcomes.flatMap(([has_page_cache, { violations }]) =>
      violations.map((each) => `${has_page_cache ? 'with' : 'without'} the back/forward cache, ${each}`),
    ),
    sections: [
      {
        heading: 'What happened',
        text: 'Somebody adds, moves, renames and deletes cards, goes offline and online, to another page, back, forward, reloads, closes the tab and opens it again, while somebody else changes the board. In the end the network is there: every change that was put into the queue is in the log of the server exactly once, or the other person has deleted its card or written another title; nothing waits; the page shows what the server has. Offline, a page that comes back shows what it showed before, and nothing is refused as long as the other person has neither deleted nor renamed a card.',
        table: {
          columns: ['', 'without the back/forward cache', 'with it'],
          rows: [
            row('steps', 'steps'),
            row('changes by the user', 'changes'),
            row('of these made offline', 'offline_changes'),
            row('changes refused because of what somebody else did', 'refused'),
            row('changes by somebody else', 'others'),
            row('navigations', 'navigations'),
            row('pages restored from the cache', 'restored'),
          ],
        },
      },
    ],
  }
}
