import { availableParallelism } from 'node:os'
import { makeFunctions } from './bare-functions.ts'
import { captureScripts } from './bare-statements.ts'
import { Load } from './load.ts'
import { byTurns, demand, type Figure, type Findings, figure, median, rounded, withCpu } from './measure.ts'
import { COUNT_IDS, DESCRIPTION, labelsLeft, NEW_ID, type OperationKey, operations, TITLE } from './operations.ts'
import { type Bench, pgbench } from './pgbench.ts'
import { eventsIn, POOL, type Stage } from './stage.ts'

/** What is aimed at: shares of the same statements, and of one function, by pgbench. */
const goals: Partial<Record<OperationKey, { statements: number; call: number }>> = {
  create: { statements: 0.75, call: 0.55 },
  move: { statements: 0.9, call: 0.7 },
}
const NODE_MS = 0.45

interface Window {
  rate: number
  count: number
  p50: number
  p99: number
  cpu: Record<string, number>
}

/** The script of one call. */
export const callScript = (key: OperationKey) =>
  `${operations[key].choose}${COUNT_IDS}select ${operations[key].call.replace('NEW_ID', NEW_ID)};\n`

/** Runs a script on the bare database, and demands that each transaction left its event. */
export class BareWrites {
  private readonly stage: Stage
  private runs = 0
  constructor(stage: Stage) {
    this.stage = stage
  }

  async run(script: string, bench: Omit<Bench, 'define'>, boards = this.stage.size.boards) {
    const { stage } = this
    const ids = { base: Date.now() + this.runs * 10_000, run: process.pid % 10_000, made: 0 }
    const define = {
      ...ids,
      boards,
      done: 0,
      clients: bench.clients,
      title: TITLE,
      description: DESCRIPTION,
    }
    this.runs++
    // Labels that an earlier run added can be added again.
    await stage.sql('bare').query('delete from card_labels where added_at > $1', [stage.seeded_at])
    const before = await eventsIn(stage.sql('bare'))
    const { result: found, cpu } = await withCpu({ PostgreSQL: stage.postgres_pid() }, () =>
      pgbench(stage.url('bare'), script, { ...bench, define }),
    )
    const written = (await eventsIn(stage.sql('bare'))) - before
    demand(written === found.count, `${found.count} transactions of pgbench left ${written} events`)
    return { ...found, cpu }
  }
}

/** Writes through the whole service, over many boards, beside the same work by PostgreSQL alone. */
export async function run(stage: Stage): Promise<Findings> {
  const { size, progress } = stage
  const scripts = await captureScripts(stage)
  await makeFunctions(stage.sql('bare'))
  const bare = new BareWrites(stage)
  const figures: Figure[] = []
  const rows: (string | number)[][] = []
  let limits = ''
  const service = await stage.main()
  using load = new Load()
  const count = Math.max(size.boards * 12, 1_000)
  for (const [key, connections] of cells(size.connections)) {
    const operation = operations[key]
    const limit = key === 'label' ? labelsLeft(size.boards) : count
    const requests = Array.from({ length: limit }, (_, nth) => {
      const { user, sending } = operation.request(nth, size.boards)
      return { ...sending, token: stage.tokens[user] as string }
    })
    await load.prepare(key, requests)
    const ours = async (): Promise<Window> => {
      const before = await eventsIn(stage.sql('ours'))
      const pids = {
        node: service.pid,
        PostgreSQL: stage.postgres_pid(),
        Redis: stage.redis.process().pid,
        load: load.pid,
      }
      const { result, cpu } = await withCpu(pids, () =>
        load.run(key, service.base_url, { connections, ms: size.window_ms }, operation.status),
      )
      const written = (await eventsIn(stage.sql('ours'))) - before
      demand(written === result.sent, `${result.sent} requests to ${operation.name} left ${written} events`)
      return { ...result, count: result.sent, cpu }
    }
    const byPgbench = (script: string) => async (): Promise<Window> => {
      const length = size.rounds > 1 ? { seconds: 1 } : { transactions: 10 }
      const found = await bare.run(script, { clients: POOL, ...length })
      return { ...found, p50: found.ms, p99: Number.NaN }
    }
    // Prepared statements, plans and compiled code: what the first requests pay for all others.
    const warm_at = performance.now() + (rows.length === 0 ? size.warm_up_ms : size.window_ms)
    while (performance.now() < warm_at) await ours()
    const subjects = { ours, statements: byPgbench(scripts[key]), call: byPgbench(callScript(key)) }
    const found = await byTurns(size.rounds, subjects)
    const of = (list: Window[]) => median(list.map(({ rate }) => rate))
    const each = (name: string) => median(found.ours.map((one) => (one.cpu[name] ?? 0) / one.count))
    const name = `${operation.name}, ${connections} connections`
    const goal = goals[key]
    const values = { ours: of(found.ours), statements: of(found.statements), call: of(found.call) }
    figures.push(
      figure(
        `${name}, to the same statements`,
        '/s',
        { ours: values.ours, bare: values.statements },
        goal && { ratio: { least: goal.statements } },
      ),
      figure(
        `${name}, to one function`,
        '/s',
        { ours: values.ours, bare: values.call },
        goal && { ratio: { least: goal.call } },
      ),
      figure(`${name}, CPU of node each`, 'ms', { ours: each('node') }, { ours: { most: NODE_MS } }),
    )
    rows.push([
      name,
      rounded(values.ours),
      rounded(median(found.ours.map((one) => one.p50))),
      rounded(median(found.ours.map((one) => one.p99))),
      ...['node', 'PostgreSQL', 'Redis', 'load'].map((process) => rounded(each(process))),
      rounded(values.statements),
      rounded(median(found.statements.map((one) => (one.cpu['PostgreSQL'] ?? 0) / one.count))),
      rounded(values.call),
      rounded(median(found.call.map((one) => (one.cpu['PostgreSQL'] ?? 0) / one.count))),
    ])
    const all = ['node', 'PostgreSQL', 'Redis', 'load'].reduce((sum, process) => sum + each(process), 0)
    const ceiling = (availableParallelism() / all) * 1_000
    // Of the first kind; the others are in the table.
    limits ||= `Processor time: for ${name}, all processes together use ${rounded(all)} ms each, so that ${availableParallelism()} cores could do ${rounded(ceiling)}/s; ${rounded(values.ours)}/s were done.`
    progress(
      `  ${name}: ${rounded(values.ours)}/s, the statements ${rounded(values.statements)}/s, one function ${rounded(values.call)}/s`,
    )
  }
  const columns = [
    'write',
    'ours /s',
    'p50 ms',
    'p99 ms',
    'node ms',
    'PostgreSQL ms',
    'Redis ms',
    'load ms',
    'statements /s',
    'their PostgreSQL ms',
    'function /s',
    'its PostgreSQL ms',
  ]
  const text = `Over ${size.boards} boards, with a token on each request. The columns in ms after p99 are processor time for each write, by process. “Statements” are what the service sends for this request, taken from PostgreSQL's log, sent by pgbench in the same order, one after the other, each when the one before was answered (the service sends several at once, and pays for fewer ways); “function” is the same work as one function on the server. Both on ${POOL} connections, which is what the service holds: the connections of a row are those of the load to the service, so the bare figures of its rows differ only by what the machine did.`
  return {
    figures,
    tables: [{ heading: 'Writes by process', text, columns, rows }],
    limits,
  }
}

/** Patches and labels are told at the first number of connections. */
function cells(connections: number[]): [OperationKey, number][] {
  const all = connections.flatMap((count) =>
    (['create', 'move'] as const).map((key): [OperationKey, number] => [key, count]),
  )
  return [...all, ['patch', connections[0] ?? 8], ['label', connections[0] ?? 8]]
}
