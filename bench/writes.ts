import { LoadWorker } from '@lockstep/testing/load/http-load'
import { assertValid, byTurns, rounded } from '@lockstep/testing/load/measure'
import { CARDS } from '@lockstep/testing/load/seed'
import { median } from '@lockstep/testing/statistics'
import { BareFunctions } from './bare-functions.ts'
import { type Cost, measureCost } from './cost.ts'
import { countEvents, type Environment, POOL } from './environment.ts'
import { type Figure, figure, perOperation, ratiosOf } from './figure.ts'
import { loadRequests, type OperationKey, operations } from './operations.ts'

/** PostgreSQL's time for a write, divided by that of one function. */
const MOST_RATIO = 1.15
/** Rates are flat when this many windows differ by at most this much. */
const FLAT = { windows: 3, spread: 0.05 }

/** Writes through the service, compared with one function of PostgreSQL that does the same work. */
export async function measureWrites(environment: Environment): Promise<Figure[]> {
  const { size } = environment
  const keys = Object.keys(operations) as OperationKey[]
  const figures: Figure[] = []
  for (const key of keys) figures.push(await measureWrite(environment, key, { boards: size.boards, connections: POOL }))
  figures.push(await measureWrite(environment, 'create', { boards: 1, connections: size.hotWriters }))
  return figures
}

async function measureWrite(
  environment: Environment,
  key: OperationKey,
  { boards, connections }: { boards: number; connections: number },
): Promise<Figure> {
  const { size, progress, tokens, pool } = environment
  const service = await environment.sharedService()
  const bare = await BareFunctions.create(environment.url('bare'), { connections: POOL, boards })
  using load = new LoadWorker()
  await load.prepare(key, loadRequests(key, { boards, tokens, ...(boards === 1 && { count: 1_000 }) }))
  const isHot = boards === 1
  const name = isHot ? `${operations[key].name}, ${connections} writers on one board` : operations[key].name
  const send = async () => (await load.runValid(key, service.baseUrl, { connections, ms: size.windowMs })).sent
  /** Measures a window, and checks that each write has appended one event. */
  const windowOf = async (database: 'ours' | 'bare', pid: number, run: () => Promise<number>) => {
    // A window is repeated if connections changed meanwhile, so that all of its writes count.
    let [all, rate] = [0, 0]
    const before = await countEvents(pool(database))
    const cost = await measureCost({ server: pool('postgres'), database, pid }, async () => {
      const startedAt = performance.now()
      const count = await run()
      rate = (count / (performance.now() - startedAt)) * 1_000
      all += count
      return count
    })
    const appended = (await countEvents(pool(database))) - before
    assertValid(appended === all, `${all} writes (${name}) appended ${appended} events`)
    return { ...cost, rate }
  }
  let perSecond = 0
  const subjects = {
    ours: async () => {
      const window = await windowOf('ours', service.pid, send)
      perSecond = window.rate
      return window
    },
    bare: () => windowOf('bare', process.pid, () => bare.run(key, size.windowMs, perSecond)),
  }
  try {
    for (const run of Object.values(subjects))
      await warmUp(run, { writes: boards * CARDS, windows: size.warmUpWindows })
    const windows: Record<'ours' | 'bare', (Cost & { rate: number })[]> = await byTurns(size.rounds, subjects)
    const measured = {
      node: perOperation(windows.ours, 'node'),
      postgres: perOperation(windows.ours, 'postgres'),
      bare: perOperation(windows.bare, 'postgres'),
    }
    const [rate, bareRate] = [
      median(windows.ours.map((each) => each.rate)),
      median(windows.bare.map((each) => each.rate)),
    ]
    progress(`  ${name}: ${rounded(rate)}/s, one function ${rounded(bareRate)}/s`)
    const limit = isHot
      ? `The board lock: writes to one board run one after the other, ${rounded(rate)} a second.`
      : limitOf(median(measured.node), median(measured.postgres))
    const goal = { what: 'ratio', most: MOST_RATIO, values: ratiosOf(measured) }
    return figure(name, measured, limit, isHot ? [] : [goal])
  } finally {
    await bare.end()
  }
}

const limitOf = (node: number, postgres: number) => {
  const perSecond = (ms: number) => rounded(1_000 / ms)
  const both = `${perSecond(node)} a second for a process of the service, ${perSecond(postgres)} for a core of PostgreSQL`
  return `CPU time of ${node > postgres ? 'Node' : 'PostgreSQL'}: ${both}.`
}

/** Runs windows until each card was written to and rates are flat: code is compiled, plans and caches are filled. */
async function warmUp(
  run: () => Promise<{ rate: number; count: number }>,
  { writes, windows }: { writes: number; windows: number },
) {
  const rates: number[] = []
  for (let [i, written] = [0, 0]; i < windows; i++) {
    const { rate, count } = await run()
    rates.push(rate)
    written += count
    const last = rates.slice(-FLAT.windows)
    if (written >= writes && last.length === FLAT.windows && Math.max(...last) / Math.min(...last) - 1 <= FLAT.spread)
      return
  }
}
