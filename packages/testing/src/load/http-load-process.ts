import { connect, type Socket } from 'node:net'
import { percentileOfSorted } from '../statistics.ts'
import { type LoadCommand, type LoadRequest, type LoadResult, type Phase, UNIQUE_NUMBER } from './http-load.ts'
import { IN_TIME_MS, isValidRejection } from './overload-checks.ts'
import { handleCommands } from './worker.ts'

/**
 * The process of the HTTP load generator. To use little CPU time, it sends prebuilt bytes, and reads no bodies except those
 * of rejections. Connections stay open between runs.
 */
interface PreparedRequest {
  /** The bytes before and after the unique number. Without a number, `head` is the whole request. */
  head: string
  tail: string | undefined
  status: string
  board: number | undefined
}
interface Connection {
  socket: Socket
  /** The part of a response head that has arrived. */
  partialHead: Buffer | undefined
  /** Bytes of the response body that are still missing; -1 while reading the head. */
  missingBytes: number
  /** Head and body of the last response. The head is empty when the connection was closed instead. */
  head: string
  body: string
  request: PreparedRequest | undefined
  sentAt: number
}
/** The connections to a port: how many are open, and which of them are idle. */
interface Pool {
  idle: Connection[]
  open: number
}

const MAX_CONNECTIONS = 6_000
const TICK_MS = 2
const LAST_RESPONSE_MS = 20_000

const lists = new Map<string, { requests: PreparedRequest[]; next: number }>()
const pools = new Map<number, Pool>()
let onFinished: (connection: Connection) => void = () => {}

function prepare({ method, path, token, body = '', headers = '', status, board }: LoadRequest): PreparedRequest {
  const content = body && `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  const authorization = token ? `Authorization: Bearer ${token}\r\n` : ''
  const text = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization}${headers}${content}\r\n${body}`
  const [head = '', tail] = text.split(UNIQUE_NUMBER)
  return { head, tail, status: String(status), board }
}

function poolOf(port: number): Pool {
  const pool = pools.get(port) ?? { idle: [], open: 0 }
  pools.set(port, pool)
  return pool
}

function openConnection(port: number): Promise<Connection> {
  const pool = poolOf(port)
  pool.open++
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(connection))
    const connection: Connection = {
      socket,
      partialHead: undefined,
      missingBytes: -1,
      head: '',
      body: '',
      request: undefined,
      sentAt: 0,
    }
    socket.on('error', reject)
    socket.on('data', (chunk: Buffer) => read(connection, chunk))
    socket.on('close', () => {
      pool.open--
      pool.idle = pool.idle.filter((each) => each !== connection)
      connection.head = ''
      if (connection.request) onFinished(connection)
    })
  })
}

function read(connection: Connection, chunk: Buffer) {
  let data = chunk
  if (connection.missingBytes === -1) {
    data = connection.partialHead ? Buffer.concat([connection.partialHead, chunk]) : chunk
    const end = data.indexOf('\r\n\r\n')
    if (end === -1) {
      connection.partialHead = data
      return
    }
    connection.partialHead = undefined
    connection.head = data.toString('latin1', 0, end)
    connection.body = ''
    connection.missingBytes = Number(/\r\ncontent-length: (\d+)/i.exec(connection.head)?.[1] ?? 0)
    data = data.subarray(end + 4)
  }
  connection.missingBytes -= data.length
  if (connection.head.startsWith('503', 9)) connection.body += data.toString('latin1')
  if (connection.missingBytes > 0) return
  connection.missingBytes = -1
  onFinished(connection)
}

/** The number of requests that are due after a time. */
function dueAfter(phases: Phase[], elapsedMs: number): number {
  let left = elapsedMs
  let due = 0
  for (const { rate, ms } of phases) {
    due += (rate * Math.min(left, ms)) / 1_000
    left = Math.max(0, left - ms)
  }
  return Math.floor(due)
}

/** The phase at a time after the start. */
function phaseAt(phases: Phase[], elapsedMs: number): Phase | undefined {
  let left = elapsedMs
  for (const phase of phases) {
    left -= phase.ms
    if (left < 0) return phase
  }
  return phases.at(-1)
}

async function run({ list, port, schedule }: Extract<LoadCommand, { do: 'run' }>): Promise<LoadResult> {
  const prepared = lists.get(list)
  if (!prepared) throw new Error(`The list ${list} was not prepared`)
  const phases = 'phases' in schedule ? schedule.phases : undefined
  const ms = 'phases' in schedule ? schedule.phases.reduce((sum, phase) => sum + phase.ms, 0) : schedule.ms
  const pool = poolOf(port)
  while (pool.open < schedule.connections) pool.idle.push(await openConnection(port))

  const seconds = Array.from({ length: Math.ceil(ms / 1_000) }, () => ({
    counts: { sent: 0, inTime: 0, late: 0, rejected: 0 },
    times: [] as number[],
  }))
  const times = { accepted: [] as number[], rejected: [] as number[] }
  const wrong: Record<string, number> = {}
  const acknowledged: [number, number][] = []
  const done = Promise.withResolvers<void>()
  const startedAt = performance.now()
  let [pending, unsent, responsesInRun] = [0, 0, 0]
  // In a closed loop, the run is over when no connection has a request under way.
  let isAllSent = phases === undefined

  const secondAt = (now: number) =>
    seconds[Math.min(seconds.length - 1, Math.floor((now - startedAt) / 1_000))] as (typeof seconds)[number]
  const countWrong = (what: string, count = 1) => {
    wrong[what] = (wrong[what] ?? 0) + count
  }
  const send = (connection: Connection, now: number) => {
    const nth = prepared.next++
    const request = prepared.requests[nth % prepared.requests.length] as PreparedRequest
    const { head, tail } = request
    pending++
    secondAt(now).counts.sent++
    connection.request = request
    connection.sentAt = now
    const text = tail === undefined ? head : head + String(nth).padStart(UNIQUE_NUMBER.length, '0') + tail
    connection.socket.write(text, 'latin1')
  }
  const count = ({ request, head, body, sentAt }: Connection, now: number) => {
    if (!request) return countWrong('a response without a request')
    const second = secondAt(now)
    const took = now - sentAt
    const isCounted = !(phases && phaseAt(phases, sentAt - startedAt)?.isExcluded)
    if (head.startsWith(request.status, 9)) {
      second.counts[took <= IN_TIME_MS ? 'inTime' : 'late']++
      second.times.push(took)
      if (isCounted) times.accepted.push(took)
      if (request.board !== undefined)
        acknowledged.push([request.board, Number(/\r\nboard-position: \d+\.(\d+)/i.exec(head)?.[1] ?? -1)])
    } else if (isValidRejection(head, body)) {
      second.counts.rejected++
      if (isCounted) times.rejected.push(took)
    } else countWrong(head.slice(9, 12) || 'no response')
  }
  onFinished = (connection) => {
    const now = performance.now()
    pending--
    if (now - startedAt <= ms) responsesInRun++
    count(connection, now)
    connection.request = undefined
    if (connection.head !== '') {
      if (!phases && now - startedAt < ms) send(connection, now)
      else pool.idle.push(connection)
    }
    if (isAllSent && pending === 0) done.resolve()
  }

  if (!phases) for (const connection of pool.idle.splice(0, schedule.connections)) send(connection, performance.now())
  else {
    let due = 0
    const sendDue = () => {
      const now = performance.now()
      const elapsed = Math.min(ms, now - startedAt)
      for (const until = dueAfter(phases, elapsed); due < until; due++) {
        // The one that was idle longest: the service closes connections that send nothing for ten seconds after their start.
        const connection = pool.idle.shift()
        if (connection) send(connection, now)
        else if (pool.open >= MAX_CONNECTIONS) unsent++
        else
          openConnection(port).then(
            (opened) => send(opened, performance.now()),
            () => unsent++,
          )
      }
      return elapsed >= ms
    }
    while (!sendDue()) await new Promise((resolve) => setTimeout(resolve, TICK_MS))
    isAllSent = true
    if (pending === 0) done.resolve()
  }
  // Late responses are awaited, so that every write is counted.
  const timer = setTimeout(done.resolve, Math.max(0, startedAt + ms - performance.now()) + LAST_RESPONSE_MS)
  await done.promise
  clearTimeout(timer)
  if (pending > 0) countWrong('no response', pending)

  const total = (what: 'sent' | 'inTime' | 'late' | 'rejected') =>
    seconds.reduce((sum, { counts }) => sum + counts[what], 0)
  const sent = total('sent')
  // On a slow machine, a short run may end before the first response.
  const rate = responsesInRun > 0 ? responsesInRun / ms : sent / (performance.now() - startedAt)
  return {
    sent,
    inTime: total('inTime'),
    late: total('late'),
    rejected: total('rejected'),
    rate: rate * 1_000,
    seconds: seconds.map((second) => ({ ...second.counts, p99: spreadOf(second.times).p99 })),
    wrong,
    unsent,
    acceptedMs: spreadOf(times.accepted),
    rejectedMs: spreadOf(times.rejected),
    acknowledged,
  }
}

function spreadOf(values: number[]) {
  values.sort((a, b) => a - b)
  return { p50: percentileOfSorted(values, 50), p99: percentileOfSorted(values, 99), max: values.at(-1) ?? 0 }
}

handleCommands<LoadCommand>(async (command) => {
  if (command.do === 'run') return run(command)
  const { list, requests } = command
  lists.set(list, { requests: requests.map(prepare), next: lists.get(list)?.next ?? 0 })
  return undefined
})
