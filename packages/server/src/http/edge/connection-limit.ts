import { readFileSync } from 'node:fs'
import type { Server } from 'node:net'
import { networkOf } from '../../platform/client-address.ts'
import { FairShare } from '../../platform/fair-share.ts'

/** What is left of the open files is for the stores, for logs, and for what is read from disk. */
const PART_FOR_CLIENTS = 0.8
/** Once half of the connections are taken, one address may have this part of them. */
const PART_OF_ADDRESS = 1 / 8
const LOG_MS = 1_000

interface ConnectionLimits {
  /** Whether one address gets no more than its share. Not behind a proxy, from which all connections come. */
  isByAddress: boolean
  log: { warn: (details: object, message: string) => void }
  /** How many files the process may have open. */
  maxFiles?: number
}

/**
 * Closes TCP connections above what the limit of open files allows, and those of an address above its share. Without room for
 * another file the kernel's queue of connections would fill silently, and nobody could connect.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): () => void {
  const { isByAddress, log, maxFiles = maxOpenFiles() } = limits
  const max = Math.floor(maxFiles * PART_FOR_CLIENTS)
  const shares = new FairShare(max, isByAddress ? max * PART_OF_ADDRESS : max)
  let refused = 0
  const timer = setInterval(() => {
    if (refused > 0)
      log.warn(
        { connections: refused, maxFiles },
        'Connections were refused: too many open files, or too many from one address',
      )
    refused = 0
  }, LOG_MS).unref()
  server.on('connection', (socket) => {
    const release = shares.claim(isByAddress ? networkOf(socket.remoteAddress ?? '') : '')
    if (release) return void socket.once('close', release)
    refused++
    socket.destroy()
  })
  return () => clearInterval(timer)
}

/** The soft limit of the process; without one that can be read, connections are not limited. */
function maxOpenFiles(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
