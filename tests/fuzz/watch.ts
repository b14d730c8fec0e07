import { readFileSync } from 'node:fs'
import type { ServiceProcess } from '@lockstep/testing/processes'
import type pg from 'pg'
import { quantile } from '../rig/history.ts'

const EVERY_MS = 200

/** Looks at a process while it works: what it weighs, what it says, whether it lives. */
export function watch(services: readonly ServiceProcess[]) {
  const weights = services.map(() => [] as number[])
  const look = () => {
    for (const [i, { pid, hasEnded }] of services.entries()) if (!hasEnded()) weights[i]?.push(weightOf(pid))
  }
  const timer = setInterval(look, EVERY_MS)
  look()
  return {
    /** What is wrong with the processes themselves, and what they weighed. */
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

/** The resident memory of a process, in MiB. */
const weightOf = (pid: number) => {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) / 1_024
}

/** From the second tenth, when everything has been done once, to the last: medians, in MiB. */
export function growthOf(weights: readonly number[]) {
  const tenth = Math.max(1, Math.floor(weights.length / 10))
  const early = quantile(weights.slice(tenth, 2 * tenth), 0.5)
  const late = quantile(weights.slice(-tenth), 0.5)
  return { early, late, growth: late - early }
}

const ERROR_LEVEL = 50
/** What a service says when something happened that nobody provided for. */
export function errorsIn(output: string): string[] {
  return output.split('\n').flatMap((line) => {
    if (line === '') return []
    if (!line.startsWith('{')) return [`the service said: ${line.slice(0, 300)}`]
    const {
      level = 0,
      msg = '',
      err,
    } = JSON.parse(line) as { level?: number; msg?: string; err?: { message: string; stack: string } }
    if (level < ERROR_LEVEL && !/unhandled/i.test(line)) return []
    return [`the service logged: ${msg} ${err?.stack?.slice(0, 400) ?? ''}`]
  })
}

/** How many transactions PostgreSQL ended because they waited for each other. Ask when the services are gone. */
export async function countDeadlocks(sql: pg.Pool): Promise<number> {
  const { rows } = await sql.query<{ deadlocks: number }>(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  )
  return rows[0]?.deadlocks ?? -1
}
