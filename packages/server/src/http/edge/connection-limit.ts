import { readFileSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import { networkOf } from '../../platform/client-address.ts'
import { FairShare } from '../../platform/fair-share.ts'
import { LeakyBuckets } from '../../platform/leaky-buckets.ts'
import type { Log } from '../../telemetry/log.ts'

/** The part of the open-files limit for client connections. The rest is for PostgreSQL, Redis, logs and files. */
const CLIENT_PART = 0.8
/** Once half of the connections are in use, one address may have this part of them. */
const ADDRESS_PART = 1 / 8
/** New connections of one address per second. One that is accepted costs far more than one that is closed at once. */
const NEW_PER_SECOND = 50
/** This many start at once. More are spread, because the requests of many at once delay those of other addresses. */
const AT_ONCE = 20
const SECOND_MS = 1_000
/** A connection starts at once up to this level of its address. */
const AT_ONCE_MS = ((AT_ONCE - 1) / NEW_PER_SECOND) * SECOND_MS
/** A connection that would wait longer is closed. */
const MAX_WAIT_MS = SECOND_MS

interface ConnectionLimits {
  /** Whether one address gets no more than its share and rate. Off behind a proxy, because all connections come from it. */
  isByAddress: boolean
  log: Pick<Log, 'warn'>
  /** The open-files limit of the process. */
  maxFiles?: number
}

/**
 * Closes new TCP connections above a part of the open-files limit, and those of an address above its share. Connections of an
 * address above its rate wait for up to a second; more are closed. At the open-files limit itself `accept` would fail, and new
 * connections would wait in the kernel's queue without an error.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): () => void {
  const { isByAddress, log, maxFiles = maxOpenFiles() } = limits
  const max = Math.floor(maxFiles * CLIENT_PART)
  const shares = new FairShare(max, isByAddress ? max * ADDRESS_PART : max)
  const opened = new LeakyBuckets(NEW_PER_SECOND)
  let rejected = 0
  const timer = setInterval(() => {
    if (rejected > 0)
      log.warn(
        { connections: rejected, maxFiles },
        'connections were closed: too many open files, or too many from one address',
      )
    rejected = 0
  }, SECOND_MS).unref()
  // Replaces the listener of the HTTP server, so that a rejected connection does not get an HTTP parser.
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[]
  const start = (socket: Socket) => {
    for (const listener of listeners) listener.call(server, socket)
  }
  server.removeAllListeners('connection')
  server.on('connection', (socket) => {
    const network = isByAddress ? networkOf(socket.remoteAddress ?? '') : ''
    const waitMs = isByAddress ? opened.levelOf(network) - AT_ONCE_MS : 0
    const release = waitMs > MAX_WAIT_MS ? undefined : shares.claim(network)
    if (!release) {
      rejected++
      // A reset costs less than an orderly end, and leaves no connection in TIME_WAIT.
      return void socket.resetAndDestroy()
    }
    if (isByAddress) opened.add(network, 1)
    socket.once('close', release)
    if (waitMs <= 0) start(socket)
    else startLater(socket, waitMs, () => (isUseful(server, socket) ? start(socket) : socket.destroy()))
  })
  return () => clearInterval(timer)
}

/**
 * Not after its client has closed it, which the HTTP server would not notice anymore; and while the server closes, only with a
 * request.
 */
const isUseful = (server: Server, socket: Socket) =>
  !socket.readableEnded && (server.listening || socket.readableLength > 0)

/** What the client sends meanwhile stays in the socket's buffer, which is limited, and in the kernel. */
function startLater(socket: Socket, waitMs: number, start: () => void) {
  const ignore = () => {}
  const timer = setTimeout(() => {
    socket.off('error', ignore)
    start()
  }, waitMs)
  // Without a listener, a client that resets its connection would end the process.
  socket.on('error', ignore).once('close', () => clearTimeout(timer))
}

/** The soft limit of the process. If it cannot be read, connections are not limited. */
function maxOpenFiles(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
