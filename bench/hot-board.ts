import { makeFunctions } from './bare-functions.ts'
import { Load, type Sending } from './load.ts'
import { byTurns, demand, type Findings, figure, median, rounded } from './measure.ts'
import { operations } from './operations.ts'
import { COLUMNS, columnOf, idOf } from './seed.ts'
import { eventsIn, POOL, type Stage } from './stage.ts'
import { BareWrites, callScript } from './writes.ts'

const OTHER_CONNECTIONS = 8
const LEAST_WRITES = 1_000
const LEAST_SHARE = 0.8

/** One board on which many write at once, and what the other boards notice of it. */
export async function run(stage: Stage): Promise<Findings> {
  const { size, progress } = stage
  const { create } = operations
  await makeFunctions(stage.sql('bare'))
  const bare = new BareWrites(stage)
  const service = await stage.main()
  using hot = new Load()
  using others = new Load()
  const requests = Array.from({ length: size.boards * COLUMNS }, (_, nth): Sending => {
    const { user, sending } = create.request(nth, size.boards)
    return { ...sending, token: stage.tokens[user] as string }
  })
  const hot_path = `/boards/${idOf('board', 1)}/columns/${idOf('column', columnOf(1, 1))}/cards`
  await hot.prepare(
    'hot',
    requests.map((request) => ({ ...request, path: hot_path })),
  )
  await others.prepare(
    'others',
    requests.filter(({ path }) => !path.includes(idOf('board', 1))),
  )
  const window = (load: Load, list: string, connections: number) =>
    load.run(list, service.base_url, { connections, ms: size.window_ms }, create.status)
  const counted = async <T extends { sent: number }>(work: () => Promise<T[]>) => {
    const before = await eventsIn(stage.sql('ours'))
    const outcomes = await work()
    const written = (await eventsIn(stage.sql('ours'))) - before
    const sent = outcomes.reduce((sum, outcome) => sum + outcome.sent, 0)
    demand(written === sent, `${sent} requests left ${written} events`)
    return outcomes
  }
  const alone = () => counted(async () => [await window(others, 'others', OTHER_CONNECTIONS)])
  const hotAlone = () => counted(async () => [await window(hot, 'hot', size.hot_writers)])
  const both = () =>
    counted(() => Promise.all([window(others, 'others', OTHER_CONNECTIONS), window(hot, 'hot', size.hot_writers)]))
  const length = size.rounds > 1 ? { seconds: 1 } : { transactions: 5 }
  const byPgbench = async () => {
    const { rate, ms } = await bare.run(callScript('create'), { clients: POOL, ...length }, 1)
    return [{ rate, p50: ms, p99: Number.NaN }]
  }
  await both()
  const found = await byTurns<'alone' | 'both' | 'hotAlone' | 'bare', { rate: number; p50: number; p99: number }[]>(
    size.rounds,
    { alone, both, hotAlone, bare: byPgbench },
  )
  const of = (list: { rate: number; p50: number; p99: number }[][], nth: number, what: 'rate' | 'p50' | 'p99') =>
    median(list.map((outcomes) => outcomes[nth]?.[what] ?? Number.NaN))
  const row = (name: string, list: { rate: number; p50: number; p99: number }[][], nth: number) => [
    name,
    ...(['rate', 'p50', 'p99'] as const).map((what) => rounded(of(list, nth, what))),
  ]
  const hot_rate = of(found.hotAlone, 0, 'rate')
  progress(`  ${rounded(hot_rate)} writes/s on one board`)
  return {
    limits: `A change holds its board until it is committed: ${rounded(1_000 / hot_rate)} ms each, one after the other. The others share the cores with it.`,
    figures: [
      figure(
        `hot board, ${size.hot_writers} writers, to one function`,
        '/s',
        { ours: hot_rate, bare: of(found.bare, 0, 'rate') },
        { ours: { least: LEAST_WRITES } },
      ),
      figure(
        'other boards while one is hot, to undisturbed',
        '/s',
        { ours: of(found.both, 0, 'rate'), bare: of(found.alone, 0, 'rate') },
        { ratio: { least: LEAST_SHARE } },
      ),
    ],
    tables: [
      {
        heading: 'A hot board',
        text: `${size.hot_writers} connections create cards on one board, ${OTHER_CONNECTIONS} on all others. Alone and together, in turns; the bare one is one function on the same board on ${POOL} connections, where each waits for the lock of the one before.`,
        columns: ['who', 'writes /s', 'p50 ms', 'p99 ms'],
        rows: [
          row('hot board alone', found.hotAlone, 0),
          row('hot board, others meanwhile', found.both, 1),
          row('others alone', found.alone, 0),
          row('others, hot board meanwhile', found.both, 0),
          row('the hot board by pgbench', found.bare, 0).map((cell) => (Number.isNaN(cell) ? '' : cell)),
        ],
      },
    ],
  }
}
