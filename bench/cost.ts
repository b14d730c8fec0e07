import { assertValid, threadsCpuOf } from '@lockstep/testing/load/measure'
import type pg from 'pg'

/** CPU milliseconds of a number of operations. */
export interface Cost {
  node: number
  /** Of the backends of one database. */
  postgres: number
  count: number
}

/** The process ids of a database's backends. `server` is connected to another database. */
async function backendsOf(server: pg.Pool | pg.Client, database: string): Promise<number[]> {
  const { rows } = await server.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = $1 and backend_type = 'client backend' order by pid`,
    [database],
  )
  return rows.map(({ pid }) => pid)
}

/** Runs operations, and measures the CPU time that a process and the backends of a database use meanwhile. */
export async function measureCost(
  { server, database, pid }: { server: pg.Pool | pg.Client; database: string; pid: number },
  work: () => Promise<number>,
  attempts = 5,
): Promise<Cost> {
  const pids = await backendsOf(server, database)
  const cpu = () => ({ node: threadsCpuOf(pid), postgres: sum(pids.map(threadsCpuOf)) })
  const before = cpu()
  const count = await work()
  // If a connection was opened or closed meanwhile, a part of PostgreSQL's time is missing.
  if (String(await backendsOf(server, database)) !== String(pids)) {
    assertValid(attempts > 1, `the connections to ${database} keep changing`)
    return measureCost({ server, database, pid }, work, attempts - 1)
  }
  const after = cpu()
  return { node: after.node - before.node, postgres: after.postgres - before.postgres, count }
}

export const sum = (values: number[]) => values.reduce((all, value) => all + value, 0)

/** The cost after something, divided by the cost before or beside it. */
export interface Ratio {
  ratio: number
  /** The 95 % interval. */
  low: number
  high: number
}

/**
 * The Hodges–Lehmann estimate of the ratio of paired rounds, and its 95 % interval from Wilcoxon's signed-rank test, both on
 * logarithms. The estimate is the median of the means of all pairs, so a few disturbed rounds do not move it.
 */
export function ratioOf(ratios: number[]): Ratio {
  const logs = ratios.map(Math.log)
  const n = logs.length
  const means = logs.flatMap((a, i) => logs.slice(i).map((b) => (a + b) / 2)).sort((a, b) => a - b)
  const cut = Math.floor((n * (n + 1)) / 4 - 1.96 * Math.sqrt((n * (n + 1) * (2 * n + 1)) / 24))
  const at = (index: number) => Math.exp(means[Math.min(Math.max(index, 0), means.length - 1)] as number)
  const middle =
    ((means[Math.floor((means.length - 1) / 2)] as number) + (means[Math.floor(means.length / 2)] as number)) / 2
  return { ratio: Math.exp(middle), low: at(cut), high: at(means.length - 1 - Math.max(cut, 0)) }
}
