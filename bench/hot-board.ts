import { LoadWorker } from '@lockstep/testing/load/http-load'
import { assertValid, byTurns, type Findings, figure, rounded } from '@lockstep/testing/load/measure'
import { COLUMNS, columnOf, idOf } from '@lockstep/testing/load/seed'
import { median } from '@lockstep/testing/statistics'
import { createBareFunctions } from './bare-functions.ts'
import { countEvents, type Environment, POOL } from './environment.ts'
import { loadRequests } from './operations.ts'
import { BareWrites, callScript } from './writes.ts'

const OTHER_CONNECTIONS = 8
const LEAST_WRITES = 1_000
const LEAST_SHARE = 0.8

/** Many concurrent writers on one board, and their effect on writes to the other boards. */
export async function measureHotBoard(environment: Environment): Promise<Findings> {
  const { size, progress, tokens, pool } = environment
  await createBareFunctions(pool('bare'))
  const bareWrites = new BareWrites(environment)
  const service = await environment.sharedService()
  using hotLoad = new LoadWorker()
  using otherLoad = new LoadWorker()
  const requests = loadRequests('create', { count: size.boards * COLUMNS, boards: size.boards, tokens })
  const hotPath = `/boards/${idOf('board', 1)}/columns/${idOf('column', columnOf(1, 1))}/cards`
  await hotLoad.prepare(
    'hot',
    requests.map((request) => ({ ...request, path: hotPath })),
  )
  await otherLoad.prepare(
    'others',
    requests.filter(({ path }) => !path.includes(idOf('board', 1))),
  )
  const run = (load: LoadWorker, list: string, connections: number) =>
    load.runValid(list, service.baseUrl, { connections, ms: size.windowMs })
  const writeHot = () => run(hotLoad, 'hot', size.hotWriters)
  const writeOthers = () => run(otherLoad, 'others', OTHER_CONNECTIONS)
  /** Runs the loads at the same time, and returns the rate of the first one. */
  const rateOf = async (...loads: (typeof writeHot)[]) => {
    const before = await countEvents(pool('ours'))
    const results = await Promise.all(loads.map((load) => load()))
    const appended = (await countEvents(pool('ours'))) - before
    const sent = results.reduce((sum, result) => sum + result.sent, 0)
    assertValid(appended === sent, `${sent} requests appended ${appended} events`)
    return results[0]?.rate ?? Number.NaN
  }
  const length = size.rounds > 1 ? { seconds: 1 } : { transactions: 5 }
  await rateOf(writeOthers, writeHot)
  const rates = await byTurns(size.rounds, {
    others: () => rateOf(writeOthers),
    othersBesideHot: () => rateOf(writeOthers, writeHot),
    hot: () => rateOf(writeHot),
    bare: async () => (await bareWrites.run(callScript('create'), { clients: POOL, ...length }, 1)).rate,
  })
  const hotRate = median(rates.hot)
  progress(`  ${rounded(hotRate)} writes/s on one board`)
  return {
    limits: `The board lock: writes to a board run one after the other, ${rounded(1_000 / hotRate)} ms each until the commit. Writes to other boards share the cores with them.`,
    figures: [
      figure(
        `hot board, ${size.hotWriters} writers, vs one function`,
        '/s',
        { ours: hotRate, bare: median(rates.bare) },
        { ours: { least: LEAST_WRITES } },
      ),
      figure(
        'other boards beside a hot board, vs without it',
        '/s',
        { ours: median(rates.othersBesideHot), bare: median(rates.others) },
        { ratio: { least: LEAST_SHARE } },
      ),
    ],
  }
}
