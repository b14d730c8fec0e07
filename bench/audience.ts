import { setTimeout as pause } from 'node:timers/promises'
import type { LoadClients } from '../tests/prove/load-clients.ts'

const PATIENCE_MS = 120_000
const QUIET_MS = 200

/** Opens sockets, and waits until all are there and have been told of everybody who came: nothing more arrives. */
export async function openSockets(clients: LoadClients, base_url: string, paths: string[], rate: number) {
  const { hellos } = await clients.count()
  await clients.open(base_url, paths, rate)
  await clients.until('all are there', (counts) => counts.hellos === hellos + paths.length, PATIENCE_MS)
  for (let last = -1, { bytes } = await clients.count(); bytes !== last; ) {
    await pause(QUIET_MS)
    ;[last, { bytes }] = [bytes, await clients.count()]
  }
}
