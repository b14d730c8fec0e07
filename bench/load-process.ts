import { connect, type Socket } from 'node:net'
import { obeying } from '../tests/prove/worker.ts'
import { MARK, type Order, type Outcome, type Sending } from './load.ts'

/**
 * HTTP load from a process of its own, with as little work as can be: requests are bytes that were made before, answers
 * are read as far as their length and status. Connections stay open from one window to the next.
 */
interface Prepared {
  /** The bytes before and behind the number that makes each request another one; without a number all of them. */
  head: string
  tail: string | undefined
}
interface Line {
  socket: Socket
  rest: Buffer | undefined
  /** Bytes of the answer that are still to come; -1 while its head is. */
  due: number
  status: number
  sent_at: number
  answered: () => void
}

const lists = new Map<string, Prepared[]>()
const lines = new Map<number, Line[]>()

function prepare({ method, path, token, body = '', type = 'application/json', headers = '' }: Sending): Prepared {
  const content = body && `Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  const who = token ? `Authorization: Bearer ${token}\r\n` : ''
  const text = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${who}${headers}${content}\r\n${body}`
  const [head = '', tail] = text.split(MARK)
  return { head, tail }
}

function open(port: number): Promise<Line> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(line))
    const line: Line = { socket, rest: undefined, due: -1, status: 0, sent_at: 0, answered: () => {} }
    socket.on('error', reject)
    // The next process may get the same port.
    socket.on('close', () => lines.delete(port))
    socket.on('data', (chunk: Buffer) => take(line, chunk))
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
    const head = data.toString('latin1', 0, end)
    line.status = Number(head.slice(9, 12))
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
    if (length === undefined && line.status !== 204 && line.status !== 304)
      throw new Error('An answer without a length')
    line.due = Number(length ?? 0)
    data = data.subarray(end + 4)
  }
  line.due -= data.length
  if (line.due > 0) return
  line.due = -1
  line.answered()
}

async function run({ port, connections, ms, list, from }: Extract<Order, { do: 'run' }>['window']): Promise<Outcome> {
  const requests = lists.get(list) ?? []
  const pool = lines.get(port) ?? []
  lines.set(port, pool)
  while (pool.length < connections) pool.push(await open(port))
  const statuses: Record<string, number> = {}
  const times: number[] = []
  const begun = performance.now()
  const end = begun + ms
  let sent = 0
  let in_time = 0
  await Promise.all(
    pool.slice(0, connections).map(
      (line) =>
        new Promise<void>((resolve) => {
          const next = () => {
            line.sent_at = performance.now()
            // What was sent is waited for, so that every change is counted; the rate counts what came in time.
            if (line.sent_at >= end) return resolve()
            const nth = from + sent++
            const { head, tail } = requests[nth % requests.length] as Prepared
            line.socket.write(
              tail === undefined ? head : head + String(nth).padStart(MARK.length, '0') + tail,
              'latin1',
            )
          }
          line.answered = () => {
            const now = performance.now()
            times.push(now - line.sent_at)
            if (now <= end) in_time++
            statuses[line.status] = (statuses[line.status] ?? 0) + 1
            next()
          }
          next()
        }),
    ),
  )
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  // On a slow machine nothing may come within a short window.
  const rate = in_time > 0 ? in_time / ms : sent / (performance.now() - begun)
  return { sent, rate: rate * 1_000, statuses, p50: at(0.5), p99: at(0.99) }
}

async function obey(order: Order): Promise<Outcome | undefined> {
  if (order.do === 'run') return run(order.window)
  lists.set(order.list, order.requests.map(prepare))
  return undefined
}

obeying(obey)
