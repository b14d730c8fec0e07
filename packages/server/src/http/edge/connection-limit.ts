import { readFileSync } from 'node:fs'
import type { Server } from 'node:net'
import { networkOf } from '../../platform/client-address.ts'
import { FairShare } from '../../platform/fair-share.ts'
import type { Log } from '../../telemetry/log.ts'

/** The part of the open-files limit for client connections. The rest is for PostgreSQL, Redis, logs and files. */
const CLIENT_PART = 0.8
/** Once half of the connections are in use, one address may have this part of them. */
const ADDRESS_PART = 1 / 8
const LOG_MS = 1_000

interface ConnectionLimits {
  /** Whether one address gets no more than its share. Off behind a proxy, because all connections come from it. */
  isByAddress: boolean
  log: Pick<Log, 'warn'>
  /** The open-files limit of the process. */
  maxFiles?: number
}

/**
 * Refuses TCP connections above a part of the open-files limit, and those of an address above its share. At the limit itself
 * `accept` would fail, and new connections would wait in the kernel's queue without an error.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): () => void {
  const { isByAddress, log, maxFiles = maxOpenFiles() } = limits
  const max = Math.floor(maxFiles * CLIENT_PART)
  const shares = new FairShare(max, isByAddress ? max * ADDRESS_PART : max)
  let rejected = 0
  const timer = setInterval(() => {
    if (rejected > 0)
      log.warn(
        { connections: rejected, maxFiles },
        'connections were rejected: too many open files, or too many from one address',
      )
    rejected = 0
  }, LOG_MS).unref()
  server.on('connection', (socket) => {
    const release = shares.claim(isByAddress ? networkOf(socket.remoteAddress ?? '') : '')
    if (release) return void socket.once('close', release)
    rejected++
    socket.destroy()
  })
  return () => clearInterval(timer)
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
