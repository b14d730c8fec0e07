import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** Prints a progress line. */
export type Progress = (line: string) => void

/** Rounds to three significant digits, and to whole numbers above a thousand. */
export const rounded = (value: number) => (Math.abs(value) >= 1_000 ? Math.round(value) : Number(value.toPrecision(3)))

/** Settings of PostgreSQL for measurements: durable commits, enough memory, JIT and plans as in deploy/postgres/roles.sql. */
export const DURABLE_POSTGRES: Record<string, string> = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '1GB',
  max_wal_size: '16GB',
  checkpoint_timeout: '30min',
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
  work_mem: '64MB',
}

/** Runs the subjects alternately, in reverse order every second round, so that a temporary disturbance affects all of them. */
export async function byTurns<K extends string, T>(
  rounds: number,
  subjects: Record<K, () => Promise<T>>,
): Promise<Record<K, T[]>> {
  const names = Object.keys(subjects) as K[]
  const results = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<K, T[]>
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) results[name].push(await subjects[name]())
  }
  return results
}

/** Fails the benchmark when a condition does not hold that the measurement depends on. */
export function assertValid(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`Invalid measurement: ${message}`)
}

/** Milliseconds per clock tick in /proc. */
const TICK_MS = 10
/** Parent and CPU time from /proc/<pid>/stat. The time includes children that have exited. */
function readStat(pid: number) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + (fields[at] ?? 0), 0)
  return { parent: fields[1], ms: ticks * TICK_MS }
}
const readStatIfRunning = (pid: number) => {
  try {
    return readStat(pid)
  } catch {
    // The process exited meanwhile. Its parent accounts for its time.
    return undefined
  }
}

/** CPU time of a process and its children in milliseconds. PostgreSQL's backends are children of its main process. */
export function cpuOf(pid: number): number {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readStatIfRunning(Number(name)))
  const children = all.filter((each) => each?.parent === pid)
  return (readStatIfRunning(pid)?.ms ?? 0) + children.reduce((sum, child) => sum + (child?.ms ?? 0), 0)
}

/**
 * CPU time of all threads of a process in milliseconds, without its children. It is read from the scheduler in
 * nanoseconds: with clock ticks, a short measurement of many small processes would be mostly rounding error.
 */
export const threadsCpuOf = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).reduce(
    (ms, thread) => ms + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
    0,
  )

/** Resident memory of a process in bytes. */
export function residentOf(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib) * 1_024
}

/** Runs `work` and measures the CPU time that each process uses meanwhile. */
export async function withCpu<T, K extends string>(pids: Record<K, number>, work: () => Promise<T>) {
  const names = Object.keys(pids) as K[]
  const before = names.map((name) => cpuOf(pids[name]))
  const result = await work()
  const cpu = Object.fromEntries(names.map((name, i) => [name, cpuOf(pids[name]) - (before[i] ?? 0)]))
  return { result, cpu: cpu as Record<K, number> }
}

/** CPU time of the machine since boot in milliseconds: used by any process, stolen by the host, and available in total. */
export function machineTime() {
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0] = (
    readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? ''
  )
    .split(/\s+/)
    .slice(1)
    .map((ticks) => Number(ticks) * TICK_MS)
  const busy = user + nice + system + irq + soft + steal
  return { busy, steal, all: busy + idle + wait }
}

/** The machine's CPU utilization over a period, from 0 to 1. Called while the benchmark is idle, it is that of other processes. */
export async function busyShare(ms: number): Promise<number> {
  const before = machineTime()
  await pause(ms)
  const after = machineTime()
  return (after.busy - before.busy) / Math.max(1, after.all - before.all)
}

/** Runs `work`, and measures how many cores other processes left to these processes and their children. */
export async function withFreeCores<T>(pids: number[], work: () => Promise<T>) {
  const ours = () => pids.reduce((sum, pid) => sum + cpuOf(pid), 0)
  const [before, oursBefore, startedAt] = [machineTime(), ours(), performance.now()]
  const result = await work()
  const [after, ms] = [machineTime(), performance.now() - startedAt]
  const others = after.busy - before.busy - (ours() - oursBefore)
  return { result, free: (after.all - before.all - Math.max(0, others)) / ms }
}
