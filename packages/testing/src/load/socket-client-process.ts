import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { handleCommands } from './worker.ts'

/**
 * Many WebSocket clients in one process, with little CPU time: handshake and frames are handled here, with one read
 * buffer and no object per message. The parent sends commands and gets counts.
 */
export interface Opening {
  port: number
  /** The path of each connection, with its token. All of them request sequence numbers. */
  paths: string[]
  /** Connections in a second. */
  rate: number
}
export interface Counts {
  open: number
  /** Handshakes that failed, and connections that broke without a close frame. */
  broken: number
  /** Close codes, and how many there were of each. */
  closes: Record<string, number>
  /** When they were closed, in milliseconds of the monotonic clock. */
  closedAt: number[]
  events: number
  gaps: number
  repeats: number
  resyncs: number
  /** Received presence messages: users who joined, and users who left. */
  joined: number
  left: number
  pings: number
  hellos: number
  bytes: number
}
export interface Arrivals {
  /** From the sending of the request to the arrival, for each event and viewer. */
  latencies: Float32Array
  /** How many viewers got each event, and when the first and the last one did. */
  each: { seq: number; count: number; first: number; last: number }[]
}
export type SocketCommand =
  | { do: 'open'; opening: Opening }
  | { do: 'count' }
  | { do: 'forget' }
  | { do: 'arrivals'; sent: Map<number, number> }
  /** From now on, clients that are closed reconnect to this port and resume. */
  | { do: 'come back'; port: number }
  | { do: 'close' }

interface Viewer {
  path: string
  port: number
  socket: Socket | undefined
  isOpen: boolean
  isClosed: boolean
  rest: Buffer | undefined
  epoch: number
  /** The last number seen; -1 before the hello. */
  seq: number
}

const nothing = (): Counts => ({
  open: 0,
  broken: 0,
  closes: {},
  closedAt: [],
  events: 0,
  gaps: 0,
  repeats: 0,
  resyncs: 0,
  joined: 0,
  left: 0,
  pings: 0,
  hellos: 0,
  bytes: 0,
})
const viewers: Viewer[] = []
let counts = nothing()
let arrivals = new Map<number, number[]>()
let backPort = 0

const shared = Buffer.allocUnsafe(256 * 1024)
// Masked with zeros, which leaves the text as it is.
const PONG = Buffer.concat([Buffer.from([0x81, 0x80 | 15, 0, 0, 0, 0]), Buffer.from('{"type":"pong"}')])
const CLOSE = Buffer.from([0x88, 0x80, 0, 0, 0, 0])
const now = () => Number(process.hrtime.bigint() / 1_000n) / 1_000

function open(viewer: Viewer) {
  viewer.isOpen = false
  viewer.isClosed = false
  viewer.rest = undefined
  const since = viewer.seq >= 0 ? `&since=${viewer.epoch}.${viewer.seq}` : '&seq=1'
  const socket = connect({
    port: viewer.port,
    host: '127.0.0.1',
    noDelay: true,
    onread: {
      buffer: shared,
      callback: (size, buffer) => {
        take(viewer, Buffer.from(buffer.buffer, buffer.byteOffset, size))
        return true
      },
    },
  })
  viewer.socket = socket
  socket.write(
    `GET ${viewer.path}${since} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
  )
  socket.on('error', () => {})
  socket.on('close', () => {
    if (viewer.socket !== socket) return
    if (viewer.isOpen) counts.open--
    if (!viewer.isClosed) counts.broken++
    viewer.isOpen = false
    viewer.socket = undefined
    if (backPort === 0) return
    viewer.port = backPort
    setTimeout(() => open(viewer), Math.random() * 1_000)
  })
}

function take(viewer: Viewer, chunk: Buffer) {
  counts.bytes += chunk.length
  let data = viewer.rest ? Buffer.concat([viewer.rest, chunk]) : chunk
  viewer.rest = undefined
  if (!viewer.isOpen) {
    const end = data.indexOf('\r\n\r\n')
    if (end === -1) {
      viewer.rest = Buffer.from(data)
      return
    }
    if (!data.toString('latin1', 0, 12).endsWith(' 101')) return viewer.socket?.destroy()
    viewer.isOpen = true
    counts.open++
    data = data.subarray(end + 4)
  }
  let at = 0
  while (at + 2 <= data.length) {
    const short = (data[at + 1] as number) & 0x7f
    const head = short < 126 ? 2 : short === 126 ? 4 : 10
    if (at + head > data.length) break
    const length = short < 126 ? short : short === 126 ? data.readUInt16BE(at + 2) : data.readUInt32BE(at + 6)
    if (at + head + length > data.length) break
    read(viewer, data, (data[at] as number) & 0x0f, at + head, length)
    at += head + length
  }
  if (at < data.length) viewer.rest = Buffer.from(data.subarray(at))
}

function read(viewer: Viewer, data: Buffer, opcode: number, at: number, length: number) {
  if (opcode === 8) {
    const code = String(length >= 2 ? data.readUInt16BE(at) : 1005)
    counts.closes[code] = (counts.closes[code] ?? 0) + 1
    counts.closedAt.push(now())
    viewer.isClosed = true
    viewer.socket?.end(CLOSE)
    return
  }
  // {"seq":12,"type":… is an event; {"type":"…, by the first letter of its type, anything else.
  if (data[at + 2] === 0x73) return readEvent(viewer, numberAt(data, at + 7))
  const letter = String.fromCharCode(data[at + 9] as number)
  if (letter === 'u') {
    counts[data[at + 14] === 0x6c ? 'left' : 'joined']++
  } else if (letter === 'p') {
    counts.pings++
    viewer.socket?.write(PONG)
  } else if (letter === 'h' || letter === 'r') {
    const { epoch, seq } = JSON.parse(data.toString('utf8', at, at + length)) as { epoch: number; seq: number }
    counts[letter === 'h' ? 'hellos' : 'resyncs']++
    viewer.epoch = epoch
    if (viewer.seq === -1 || letter === 'r') viewer.seq = seq
  }
}

function readEvent(viewer: Viewer, seq: number) {
  counts.events++
  if (seq <= viewer.seq) counts.repeats++
  else if (seq > viewer.seq + 1) counts.gaps++
  viewer.seq = Math.max(viewer.seq, seq)
  const times = arrivals.get(seq)
  if (times) times.push(now())
  else arrivals.set(seq, [now()])
}

function numberAt(data: Buffer, from: number) {
  let value = 0
  for (let at = from; ; at++) {
    const digit = (data[at] as number) - 0x30
    if (digit < 0 || digit > 9) return value
    value = value * 10 + digit
  }
}

async function openAll({ port, paths, rate }: Opening) {
  const begun = now()
  for (const [i, path] of paths.entries()) {
    const viewer: Viewer = {
      path,
      port,
      socket: undefined,
      isOpen: false,
      isClosed: false,
      rest: undefined,
      epoch: 0,
      seq: -1,
    }
    viewers.push(viewer)
    open(viewer)
    // Every ten milliseconds as many as are due.
    while (((now() - begun) / 1_000) * rate < i + 1) await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

function collect(sent: Map<number, number>): Arrivals {
  const latencies: number[] = []
  const each = [...arrivals].map(([seq, times]) => {
    const sentAt = sent.get(seq)
    if (sentAt !== undefined) for (const time of times) latencies.push(time - sentAt)
    // They are in order of arrival.
    return { seq, count: times.length, first: times[0] ?? 0, last: times.at(-1) ?? 0 }
  })
  return { latencies: Float32Array.from(latencies), each }
}

async function execute(order: SocketCommand): Promise<unknown> {
  switch (order.do) {
    case 'open':
      return openAll(order.opening)
    case 'count':
      return counts
    case 'forget':
      arrivals = new Map()
      counts = { ...nothing(), open: counts.open }
      return undefined
    case 'arrivals':
      return collect(order.sent)
    case 'come back':
      backPort = order.port
      return undefined
    case 'close':
      backPort = 0
      for (const { socket } of viewers.splice(0)) socket?.destroy()
      return undefined
  }
}

handleCommands(execute)
