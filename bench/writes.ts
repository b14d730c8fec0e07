import { availableParallelism } from 'node:os'
import { LoadWorker } from '@lockstep/testing/load/http-load'
import {
  assertValid,
  byTurns,
  type Figure,
  type Findings,
  figure,
  rounded,
  withCpu,
} from '@lockstep/testing/load/measure'
import { median } from '@lockstep/testing/statistics'
import { createBareFunctions } from './bare-functions.ts'
import { captureScripts } from './bare-statements.ts'
import { countEvents, type Environment, POOL } from './environment.ts'
import {
  COUNT_IDS,
  DESCRIPTION,
  loadRequests,
  maxLabelRequests,
  NEW_ID,
  type OperationKey,
  operations,
  TITLE,
} from './operations.ts'
import { type PgbenchOptions, pgbench } from './pgbench.ts'

/** The lowest ratio to pgbench with the same statements, and to pgbench with one function. */
const goals: Partial<Record<OperationKey, { statements: number; call: number }>> = {
  create: { statements: 0.75, call: 0.55 },
  move: { statements: 0.9, call: 0.7 },
}
const MOST_NODE_MS = 0.45

interface Window {
  rate: number
  /** CPU milliseconds per write, by process. Pgbench is not measured. */
  cpu?: Record<string, number>
}

/** The pgbench script that calls the function of an operation. */
export const callScript = (key: OperationKey) =>
  `${operations[key].variables}${COUNT_IDS}select ${operations[key].call.replace('NEW_ID', NEW_ID)};\n`

/** Runs pgbench scripts on the bare database, and checks that each transaction appends one event. */
export class BareWrites {
  private readonly environment: Environment
  private runs = 0
  constructor(environment: Environment) {
    this.environment = environment
  }

  async run(script: string, options: Omit<PgbenchOptions, 'define'>, boards = this.environment.size.boards) {
    const { seededAt, pool, url } = this.environment
    const ids = { base: Date.now() + this.runs * 10_000, run: process.pid % 10_000, made: 0 }
    const define = { ...ids, boards, done: 0, clients: options.clients, title: TITLE, description: DESCRIPTION }
    this.runs++
    // Removes the labels of earlier runs, so that they can be added again.
    await pool('bare').query('delete from card_labels where added_at > $1', [seededAt])
    const before = await countEvents(pool('bare'))
    const { count, rate } = await pgbench(url('bare'), script, { ...options, define })
    const appended = (await countEvents(pool('bare'))) - before
    assertValid(appended === count, `${count} transactions of pgbench appended ${appended} events`)
    return { rate }
  }
}

/** Writes to many boards through the service, compared with the same work by PostgreSQL alone. */
export async function measureWrites(environment: Environment): Promise<Findings> {
  const { size, progress, tokens, pool } = environment
  const scripts = await captureScripts(environment)
  await createBareFunctions(pool('bare'))
  const bare = new BareWrites(environment)
  const figures: Figure[] = []
  let limits = ''
  const service = await environment.sharedService()
  using load = new LoadWorker()
  const pids = {
    node: service.pid,
    PostgreSQL: environment.postgresPid(),
    Redis: environment.redis.process().pid,
    load: load.pid,
  }
  for (const [key, connections] of variants(size.connections)) {
    const operation = operations[key]
    const count = key === 'label' ? maxLabelRequests(size.boards) : Math.max(size.boards * 12, 1_000)
    await load.prepare(key, loadRequests(key, { count, boards: size.boards, tokens }))
    const ours = async (): Promise<Window> => {
      const before = await countEvents(pool('ours'))
      const { result, cpu } = await withCpu(pids, () =>
        load.runValid(key, service.baseUrl, { connections, ms: size.windowMs }),
      )
      const appended = (await countEvents(pool('ours'))) - before
      assertValid(appended === result.sent, `${result.sent} requests to ${operation.name} appended ${appended} events`)
      const perWrite = Object.entries(cpu).map(([name, ms]) => [name, ms / result.sent])
      return { rate: result.rate, cpu: Object.fromEntries(perWrite) }
    }
    const byPgbench = (script: string) => (): Promise<Window> =>
      bare.run(script, { clients: POOL, ...(size.rounds > 1 ? { seconds: 1 } : { transactions: 10 }) })
    // Warms up compiled code, prepared statements and plans.
    const warmAt = performance.now() + (figures.length === 0 ? size.warmUpMs : size.windowMs)
    while (performance.now() < warmAt) await ours()
    const windows = await byTurns(size.rounds, {
      ours,
      statements: byPgbench(scripts[key]),
      call: byPgbench(callScript(key)),
    })
    const rateOf = (list: Window[]) => median(list.map(({ rate }) => rate))
    const rates = { ours: rateOf(windows.ours), statements: rateOf(windows.statements), call: rateOf(windows.call) }
    const cpuOf = (name: string) => median(windows.ours.map(({ cpu }) => cpu?.[name] ?? Number.NaN))
    const name = `${operation.name}, ${connections} connections`
    const goal = goals[key]
    figures.push(
      figure(
        `${name}, vs the same statements`,
        '/s',
        { ours: rates.ours, bare: rates.statements },
        goal && { ratio: { least: goal.statements } },
      ),
      figure(
        `${name}, vs one function`,
        '/s',
        { ours: rates.ours, bare: rates.call },
        goal && { ratio: { least: goal.call } },
      ),
      figure(`${name}, Node CPU per request`, 'ms', { ours: cpuOf('node') }, { ours: { most: MOST_NODE_MS } }),
    )
    // Of the first variant only: the others have the same bottleneck.
    limits ||= describeLimit({
      name,
      rate: rates.ours,
      cpuMs: Object.keys(pids).reduce((sum, each) => sum + cpuOf(each), 0),
    })
    progress(
      `  ${name}: ${rounded(rates.ours)}/s, same statements ${rounded(rates.statements)}/s, one function ${rounded(rates.call)}/s`,
    )
  }
  return { figures, limits }
}

function describeLimit({ name, rate, cpuMs }: { name: string; rate: number; cpuMs: number }) {
  const cores = availableParallelism()
  return `CPU time. All processes together use ${rounded(cpuMs)} ms per request (${name}), so ${cores} cores allow at most ${rounded((cores / cpuMs) * 1_000)}/s; ${rounded(rate)}/s were measured.`
}

/** Create and move with each number of connections, patch and label with the first one only. */
function variants(connections: number[]): [OperationKey, number][] {
  const all = connections.flatMap((count) =>
    (['create', 'move'] as const).map((key): [OperationKey, number] => [key, count]),
  )
  return [...all, ['patch', connections[0] ?? 8], ['label', connections[0] ?? 8]]
}
