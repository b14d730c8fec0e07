import { openBrowser } from '@lockstep/testing/browser'
import { startBare } from '@lockstep/testing/load/environment'
import { endProcesses, startPostgres, startRedis } from '@lockstep/testing/processes'
import pg from 'pg'
import { buildWebIfOld } from '../../scripts/build-web.ts'
import {
  at,
  boardPath,
  calibrate,
  join,
  largeBoard,
  layoutShift,
  measureBurst,
  measureBurstElsewhere,
  measureDrops,
  measureEcho,
  measureLoads,
  openMeasured,
  type SpeedEnvironment,
} from '../web/speed-measurements.ts'
import { atLeast, atMost, collectFigures, info, type Progress, type Report } from './report.ts'

const LOADS = 9
const BURST = { seconds: 5, rate: 100, rounds: 5 }
const tenth = (value: number) => Math.round(value * 10) / 10

/** How fast the web client is, in one browser, beside a service with nothing else to do. */
export async function prove(progress: Progress): Promise<Report> {
  const { figures, violations, add } = collectFigures(progress)
  await buildWebIfOld()
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
  const sql = new pg.Pool({ connectionString: postgres.url })
  try {
    const { baseUrl } = await startBare({ DATABASE_URL: postgres.url, REDIS_URL: redis.url })
    const browser = await openBrowser()
    const [viewer, writer] = [await join(baseUrl, 'viewer'), await join(baseUrl, 'writer')]
    const env: SpeedEnvironment = { baseUrl, sql, browser, viewer, writer }
    const { workMs, factor } = await calibrate(browser)
    add(info('fixed work in the browser, 14 ms on the reference machine', tenth(workMs), 'ms'))
    add(info('factor of the bounds, at most 2', tenth(factor)))
    for (const [cards, bound] of [
      [1_000, 500],
      [5_000, 1_000],
    ] as const) {
      const { interactive } = await measureLoads(env, boardPath(await largeBoard(env, cards)), LOADS)
      add(
        atMost(
          `${cards} cards, interactive, median of ${LOADS} loads`,
          Math.round(at(interactive, 50)),
          bound * factor,
          'ms',
        ),
      )
    }
    const board_id = await largeBoard(env, 1_000)
    await measureChanges(env, board_id, factor, add)
    await measureFrames(env, board_id, add)
    await browser.close()
  } finally {
    await sql.end()
    await endProcesses()
  }
  return { figures, violations }
}

type Add = ReturnType<typeof collectFigures>['add']

async function measureChanges(env: SpeedEnvironment, board_id: string, factor: number, add: Add) {
  const page = await openMeasured(env, board_id)
  add(atMost('own drop, painted, median', Math.round(at(await measureDrops(page, 20), 50)), 32 * factor, 'ms'))
  const echoes = await measureEcho(page, env, 60)
  add(atMost('change by someone else, from request to paint, median', Math.round(at(echoes, 50)), 100 * factor, 'ms'))
  add(info('change by someone else, from request to paint, p95', Math.round(at(echoes, 95)), 'ms'))
  add(atMost('unexpected layout shifts', await layoutShift(page), 0))
  await page.context().close()
}

/** The same changes of another board are the control: the machine is as busy, and the page has nothing to do. */
async function measureFrames(env: SpeedEnvironment, board_id: string, add: Add) {
  const otherBoard = await largeBoard(env, 1_000)
  const rounds: { control: number; busy: number; rate: number }[] = []
  for (let round = 0; round < BURST.rounds; round++) {
    const idlePage = await openMeasured(env, board_id)
    const { frames: control } = await measureBurstElsewhere(idlePage, env, otherBoard, BURST.seconds, BURST.rate)
    await idlePage.context().close()
    const page = await openMeasured(env, board_id)
    const { frames: busy, rate } = await measureBurst(page, env, BURST.seconds, BURST.rate)
    await page.context().close()
    rounds.push({ control, busy, rate })
  }
  const median = (values: number[]) => Math.round(at(values, 50) * 100) / 100
  add(info('changes by someone else a second', Math.round(median(rounds.map(({ rate }) => rate)))))
  add(info('frames a second while another board changes', Math.round(median(rounds.map(({ control }) => control)))))
  add(
    atLeast(
      'frame rate while this board changes / another board',
      median(rounds.map(({ busy, control }) => busy / control)),
      0.9,
    ),
  )
}
