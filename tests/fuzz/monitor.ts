import { residentOf } from '@lockstep/testing/load/measure'
import { errorsIn } from '@lockstep/testing/log-errors'
import type { ServiceProcess } from '@lockstep/testing/processes'
import { percentile } from '@lockstep/testing/statistics'
import type pg from 'pg'

const EVERY_MS = 200

/** Monitors processes: their memory, their logs and whether they are running. */
export function monitor(services: readonly ServiceProcess[]) {
  const weights = services.map(() => [] as number[])
  const look = () => {
    for (const [i, { pid, hasEnded }] of services.entries())
      if (!hasEnded()) weights[i]?.push(residentOf(pid) / 2 ** 20)
  }
  const timer = setInterval(look, EVERY_MS)
  look()
  return {
    /** Errors of the processes, and their memory. */
    end: () => {
      clearInterval(timer)
      const complaints = services.flatMap(({ hasEnded, output }) => [
        ...(hasEnded() ? ['the service has ended'] : []),
        ...errorsIn(output()),
      ])
      return { complaints, growth: weights.map(growthOf), weights }
    },
  }
}

/** Memory growth in MiB: the median of the last tenth minus that of the second tenth, after the warm-up. */
export function growthOf(weights: readonly number[]) {
  const tenth = Math.max(1, Math.floor(weights.length / 10))
  const early = percentile(weights.slice(tenth, 2 * tenth), 50)
  const late = percentile(weights.slice(-tenth), 50)
  return { early, late, growth: late - early }
}

/** The number of deadlocks. Call it after the services have ended. */
export async function countDeadlocks(sql: pg.Pool): Promise<number> {
  const { rows } = await sql.query<{ deadlocks: number }>(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  )
  return rows[0]?.deadlocks ?? -1
}
