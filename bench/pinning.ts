import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

const POSTGRES_CORE = 0
const OTHER_CORE = 1

let isPinned = false

/**
 * Pins this process, and so everything that it starts, to one core. PostgreSQL gets the other one. Returns what was done:
 * without Linux, `taskset` or a second core nothing is pinned, and the figures vary more.
 */
export function pinProcesses(): string {
  if (process.platform !== 'linux' || cpus().length < 2) return 'none: needs Linux and two cores'
  try {
    pin(process.pid, OTHER_CORE)
  } catch {
    return 'none: taskset is missing, or the cores are not available'
  }
  isPinned = true
  return `PostgreSQL on core ${POSTGRES_CORE}, everything else on core ${OTHER_CORE}`
}

/** Pins PostgreSQL, by its main process. Backends inherit its core. */
export function pinPostgres(pid: number) {
  if (!isPinned) return
  pin(pid, POSTGRES_CORE)
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  for (const child of children) pin(Number(child), POSTGRES_CORE)
}

const pin = (pid: number, core: number) =>
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(pid)], { stdio: 'ignore' })
