import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** Says what is going on, while it goes on. */
export type Progress = (line: string) => void

/** What was measured of ours and of the bare engine in the same run, and what was aimed at. */
export interface Figure {
  /** Stays the same from one run to the next. */
  name: string
  ours: number
  /** Null when there is no bare engine to compare with. */
  bare: number | null
  /** Ours to the bare one, in the direction of the unit. */
  ratio: number | null
  unit: string
  goal: string | null
  met: boolean | null
  /** How far the goal was reached, of several the farthest off: 1 is just so. */
  reached: number | null
}
export interface Table {
  heading: string
  text: string
  columns: string[]
  rows: (string | number)[][]
}
export interface Picture {
  /** Becomes `bench-<name>.svg`. */
  name: string
  caption: string
  svg: string
}
export interface Findings {
  figures: Figure[]
  tables: Table[]
  pictures?: Picture[]
  /** What holds it back, in a sentence or two. */
  limits?: string
}

type Bound = { least: number } | { most: number }
const reachOf = (value: number, bound: Bound) =>
  'least' in bound ? value / bound.least : value <= 0 ? Number.MAX_SAFE_INTEGER : bound.most / value
const isWithin = (value: number, bound: Bound) => ('least' in bound ? value >= bound.least : value <= bound.most)
const goalOf = (what: string, bound: Bound, unit: string) =>
  `${what} ${'least' in bound ? `≥ ${bound.least}` : `≤ ${bound.most}`}${unit && ` ${unit}`}`

/** A figure with its goals: for the ratio, for our own value, for both or for none. */
export function figure(
  name: string,
  unit: string,
  { ours, bare = null }: { ours: number; bare?: number | null },
  goals: { ratio?: Bound; ours?: Bound } = {},
): Figure {
  const ratio = bare ? ours / bare : null
  const aim = (what: string, value: number, bound: Bound, of: string) => ({
    goal: goalOf(what, bound, of),
    met: isWithin(value, bound),
    reached: reachOf(value, bound),
  })
  const aimed = [
    goals.ratio && aim('ratio', ratio ?? 0, goals.ratio, ''),
    goals.ours && aim('ours', ours, goals.ours, unit),
  ].filter((goal) => goal !== undefined)
  return {
    name,
    ours: rounded(ours),
    bare: bare === null ? null : rounded(bare),
    ratio: ratio === null ? null : rounded(ratio),
    unit,
    goal: aimed.length > 0 ? aimed.map(({ goal }) => goal).join(' and ') : null,
    met: aimed.length > 0 ? aimed.every(({ met }) => met) : null,
    reached: aimed.length > 0 ? rounded(Math.min(...aimed.map(({ reached }) => reached))) : null,
  }
}

/** Three digits that mean something; whole numbers above a thousand. */
export const rounded = (value: number) => (Math.abs(value) >= 1_000 ? Math.round(value) : Number(value.toPrecision(3)))

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  const [low, high] = [sorted[half - (sorted.length % 2 === 0 ? 1 : 0)], sorted[half]]
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2
}

/** Does all of them in turns, in the other order every second time: what disturbs a while disturbs each alike. */
export async function byTurns<K extends string, T>(
  rounds: number,
  subjects: Record<K, () => Promise<T>>,
): Promise<Record<K, T[]>> {
  const names = Object.keys(subjects) as K[]
  const found = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<K, T[]>
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) found[name].push(await subjects[name]())
  }
  return found
}

/** What must hold for a measurement to mean anything. */
export function demand(isSo: boolean, what: string): asserts isSo {
  if (!isSo) throw new Error(`What was measured is wrong: ${what}`)
}

/** Milliseconds in a tick of /proc. */
const TICK_MS = 10
/** What the kernel tells of a process behind its name: parent, then user, system, and both again of children that ended. */
function statOf(pid: number) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + (fields[at] ?? 0), 0)
  return { parent: fields[1], ms: ticks * TICK_MS }
}
const known = (pid: number) => {
  try {
    return statOf(pid)
  } catch {
    // It ended while we looked; its parent has its time by now, or soon.
    return undefined
  }
}

/** The processor time of a process and of its children, in milliseconds: the backends of PostgreSQL are such children. */
export function cpuOf(pid: number): number {
  const family = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => known(Number(name)))
  const children = family.filter((each) => each?.parent === pid)
  return (known(pid)?.ms ?? 0) + children.reduce((sum, child) => sum + (child?.ms ?? 0), 0)
}

/**
 * The processor time of all threads of a process, in milliseconds, without its children. From the scheduler, to the
 * nanosecond: in ticks, a short measurement of many small processes would be mostly rounding.
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

/** What each process used while something was done. */
export async function withCpu<T, K extends string>(pids: Record<K, number>, work: () => Promise<T>) {
  const names = Object.keys(pids) as K[]
  const before = names.map((name) => cpuOf(pids[name]))
  const result = await work()
  const cpu = Object.fromEntries(names.map((name, i) => [name, cpuOf(pids[name]) - (before[i] ?? 0)]))
  return { result, cpu: cpu as Record<K, number> }
}

/** The processor time of the machine so far, in milliseconds: what was used by anybody, what the host took, and all there was. */
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

/** How busy the machine is for a while, from 0 to 1: with what others do, when we do nothing. */
export async function busyShare(ms: number): Promise<number> {
  const before = machineTime()
  await pause(ms)
  const after = machineTime()
  return (after.busy - before.busy) / Math.max(1, after.all - before.all)
}

/** How many cores were left by others while something was done by these processes and their children. */
export async function withFreeCores<T>(pids: number[], work: () => Promise<T>) {
  const ours = () => pids.reduce((sum, pid) => sum + cpuOf(pid), 0)
  const [before, ours_before, begun] = [machineTime(), ours(), performance.now()]
  const result = await work()
  const [after, ms] = [machineTime(), performance.now() - begun]
  const others = after.busy - before.busy - (ours() - ours_before)
  return { result, free: (after.all - before.all - Math.max(0, others)) / ms }
}
