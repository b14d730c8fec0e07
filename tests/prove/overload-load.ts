import { connect, type Socket } from 'node:net'
import { percentile } from '@lockstep/testing/load/socket-clients'
import { obeying } from '@lockstep/testing/load/worker'
import { IN_TIME_MS, isRightRefusal } from './overload-judge.ts'

/**
 * HTTP load from a process of its own, with as little work as can be: requests are bytes that were made before, answers
 * are read as far as they are judged. In a closed loop everybody waits for his answer before he asks again; in an open
 * one requests come when they come, whether or not others were answered, as from people who know nothing of each other.
 */
export interface Sending {
  method: string
  path: string
  token: string
  body?: string
  /** A part of the body that is filled with another number each time: a change that changes nothing is not in the log. */
  blank?: string
  /** What it is answered with when it is let in. */
  status: number
  /** The board that it changes. */
  changes?: number
}
/**
 * How many ask at once, or how many requests come each second, in one stretch of time after the other. Connections are opened
 * before; in an open loop more are opened when all of them wait.
 */
export type Window = { port: number; connections: number } & ({ ms: number } | { phases: Phase[] })
export interface Phase {
  rate: number
  ms: number
  /** Whoever asks in it does not count in how long it takes. */
  isRest?: boolean
}
export type Order = { do: 'prepare'; requests: Sending[] } | { do: 'run'; window: Window }

/** What happened in one second. */
export interface Moment {
  offered: number
  /** Let in, and answered rightly within the time that counts. */
  good: number
  /** Let in and answered rightly, but too late. */
  late: number
  shed: number
  /** Milliseconds of those that were let in. */
  p99: number
}
export interface Outcome {
  moments: Moment[]
  offered: number
  good: number
  late: number
  shed: number
  /** Neither the right answer nor a right 503: the status of each, and how many there were. */
  wrong: Record<string, number>
  /** Requests that could not be sent, for all connections waited for answers. */
  unsent: number
  /** Milliseconds of those who did not ask in a phase of rest. */
  let_in: { p50: number; p99: number; max: number }
  sent_away: { p50: number; p99: number; max: number }
  /** The numbers of the events of acknowledged changes: the board, and its number. */
  acknowledged: [board: number, seq: number][]
}

const MAX_CONNECTIONS = 6_000
const TICK_MS = 2

interface Prepared {
  bytes: Buffer
  /** A part of the bytes. */
  blank: Buffer | undefined
  status: number
  changes: number
}
interface Line {
  socket: Socket
  rest: Buffer | undefined
  /** Bytes of the answer that are still to come; -1 while its head is. */
  due: number
  head: string
  body: string
  asked: Prepared | undefined
  sent_at: number
}

let requests: Prepared[] = []
let reached = 0
/** The connections to a port: those that wait for nothing, and how many there are. */
interface Pool {
  free: Line[]
  opened: number
}
const pools = new Map<number, Pool>()
let finished: (line: Line) => void = () => {}

function prepare({ method, path, token, body = '', blank, status, changes = -1 }: Sending): Prepared {
  const content = body && `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  const text = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nAccept-Encoding: gzip\r\n${content}\r\n${body}`
  const bytes = Buffer.from(text)
  const at = blank ? bytes.indexOf(blank) : -1
  return { bytes, blank: blank ? bytes.subarray(at, at + blank.length) : undefined, status, changes }
}

function poolOf(port: number): Pool {
  const pool = pools.get(port) ?? { free: [], opened: 0 }
  pools.set(port, pool)
  return pool
}

function open(port: number): Promise<Line> {
  const pool = poolOf(port)
  pool.opened++
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(line))
    const line: Line = { socket, rest: undefined, due: -1, head: '', body: '', asked: undefined, sent_at: 0 }
    socket.on('error', reject)
    socket.on('data', (chunk: Buffer) => take(line, chunk))
    socket.on('close', () => {
      pool.opened--
      const at = pool.free.indexOf(line)
      if (at !== -1) pool.free.splice(at, 1)
      // A connection that is closed instead of answered is no answer.
      line.head = ''
      if (line.asked) finished(line)
    })
  })
}

function take(line: Line, chunk: Buffer) {
  let data = chunk
  if (line.due === -1) {
    data = line.rest ? Buffer.concat([line.rest, chunk]) : chunk
    const end = data.indexOf('\r\n\r\n')
    if (end === -1) {
      line.rest = data
      return
    }
    line.rest = undefined
    line.head = data.toString('latin1', 0, end)
    line.due = Number(/\r\ncontent-length: (\d+)/i.exec(line.head)?.[1] ?? 0)
    data = data.subarray(end + 4)
    line.body = ''
  }
  line.due -= data.length
  // Only refusals are read: everything else is judged by its status.
  if (line.head.startsWith('503', 9)) line.body += data.toString('latin1')
  if (line.due > 0) return
  line.due = -1
  finished(line)
}

function send(line: Line, now: number) {
  const nth = reached++
  const asked = requests[nth % requests.length] as Prepared
  asked.blank?.write(String(nth).padStart(asked.blank.length, '0'))
  line.asked = asked
  line.sent_at = now
  line.socket.write(asked.bytes)
}

/** How many requests have come so long after the beginning. */
function dueAfter(phases: Phase[], elapsed_ms: number): number {
  let left = elapsed_ms
  let due = 0
  for (const { rate, ms } of phases) {
    due += (rate * Math.min(left, ms)) / 1_000
    left = Math.max(0, left - ms)
  }
  return Math.floor(due)
}

/** The phase at some time after the beginning. */
function phaseAt(phases: Phase[], elapsed_ms: number): Phase | undefined {
  let left = elapsed_ms
  const isNow = ({ ms }: Phase) => {
    left -= ms
    return left < 0
  }
  return phases.find(isNow) ?? phases.at(-1)
}

async function run(window: Window): Promise<Outcome> {
  const { port } = window
  const ms = 'phases' in window ? window.phases.reduce((sum, phase) => sum + phase.ms, 0) : window.ms
  const counts = Array.from({ length: Math.ceil(ms / 1_000) }, () => ({ offered: 0, good: 0, late: 0, shed: 0 }))
  const times = counts.map(() => [] as number[])
  const let_in: number[] = []
  const sent_away: number[] = []
  const wrong: Record<string, number> = {}
  const acknowledged: [number, number][] = []
  let unsent = 0
  let pending = 0
  const pool = poolOf(port)
  const { free } = pool
  while (pool.opened < window.connections) free.push(await open(port))
  const begun = performance.now()
  const secondOf = (at: number) => Math.min(counts.length - 1, Math.floor((at - begun) / 1_000))
  const isRest = (at: number) => 'phases' in window && phaseAt(window.phases, at - begun)?.isRest

  const judge = ({ asked, head, body, sent_at }: Line, now: number) => {
    if (!asked) {
      wrong['an answer that nobody asked for'] = (wrong['an answer that nobody asked for'] ?? 0) + 1
      return
    }
    const { status, changes } = asked
    const count = counts[secondOf(now)] as (typeof counts)[number]
    const took = now - sent_at
    if (head.startsWith(String(status), 9)) {
      if (took <= IN_TIME_MS) count.good++
      else count.late++
      times[secondOf(now)]?.push(took)
      if (!isRest(sent_at)) let_in.push(took)
      if (changes === -1) return
      acknowledged.push([changes, Number(/\r\nboard-position: \d+\.(\d+)/i.exec(head)?.[1] ?? -1)])
    } else if (isRightRefusal(head, body)) {
      count.shed++
      if (!isRest(sent_at)) sent_away.push(took)
    } else {
      const what = head.slice(9, 12) || 'no answer'
      wrong[what] = (wrong[what] ?? 0) + 1
    }
  }
  const offer = (line: Line, now: number) => {
    pending++
    ;(counts[secondOf(now)] as (typeof counts)[number]).offered++
    send(line, now)
  }

  if (!('phases' in window)) {
    finished = (line) => {
      const now = performance.now()
      pending--
      judge(line, now)
      line.asked = undefined
      if (now - begun < ms && line.head !== '') offer(line, now)
      else if (line.head !== '') free.push(line)
    }
    for (const line of free.splice(0, window.connections)) offer(line, performance.now())
    await new Promise((resolve) => setTimeout(resolve, ms))
  } else {
    finished = (line) => {
      pending--
      judge(line, performance.now())
      line.asked = undefined
      if (line.head !== '') free.push(line)
    }
    await new Promise<void>((resolve) => {
      let due = 0
      const timer = setInterval(() => {
        const now = performance.now()
        const elapsed = Math.min(ms, now - begun)
        for (const until = dueAfter(window.phases, elapsed); due < until; due++) {
          const line = free.pop()
          if (line) offer(line, now)
          else if (pool.opened < MAX_CONNECTIONS)
            void open(port).then(
              (fresh) => offer(fresh, performance.now()),
              () => unsent++,
            )
          else unsent++
        }
        if (elapsed < ms) return
        clearInterval(timer)
        resolve()
      }, TICK_MS)
    })
  }
  // What was sent is waited for, so that every change is counted.
  const deadline = performance.now() + 20_000
  while (pending > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20))
  if (pending > 0) wrong['no answer'] = (wrong['no answer'] ?? 0) + pending

  const total = (what: 'offered' | 'good' | 'late' | 'shed') => counts.reduce((sum, count) => sum + count[what], 0)
  const sorted = (values: number[]) => values.sort((a, b) => a - b)
  const spread = (values: number[]) => ({
    p50: percentile(values, 50),
    p99: percentile(values, 99),
    max: values.at(-1) ?? 0,
  })
  return {
    moments: counts.map((count, i) => ({ ...count, p99: percentile(sorted(times[i] as number[]), 99) })),
    offered: total('offered'),
    good: total('good'),
    late: total('late'),
    shed: total('shed'),
    wrong,
    unsent,
    let_in: spread(sorted(let_in)),
    sent_away: spread(sorted(sent_away)),
    acknowledged,
  }
}

async function obey(order: Order): Promise<Outcome | undefined> {
  if (order.do === 'run') return run(order.window)
  requests = order.requests.map(prepare)
  return undefined
}

obeying(obey)
