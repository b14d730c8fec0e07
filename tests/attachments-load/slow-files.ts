import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type ProbedService, retainedBytes } from '@lockstep/testing/load/environment'
import { eventually } from '@lockstep/testing/processes'
import { countLeftovers, type FilesEnvironment, formOf, seededBytes, upload } from './environment.ts'
import { downloadHead, openSocket, statusOf, uploadHead, write } from './raw-upload.ts'

const STEP_MS = 100
/** CPU time in a second: the slow clients alone need less. */
const BUSY_CPU_MS = 350

export interface SlowFiles {
  /** Maximum number of busy database connections, and of open transactions, while all clients are stalled. */
  busy: number
  in_transaction: number
  /** How many slow clients lost their connection, and whether one that continued in the end completed its upload. */
  lost: number
  hasFinished: boolean
  keptGrowth: number
  leftovers: number
}
export interface SlowSize {
  /** As many upload slowly, download slowly, and download without reading. */
  clients: number
  rate: number
  bytes: number
  stillMs: number
}

/** Clients that upload and download at a few kilobytes a second, and then stall. */
export async function watchSlowFiles(environment: FilesEnvironment, size: SlowSize): Promise<SlowFiles> {
  const { service, sql } = environment
  const content = seededBytes(7).subarray(0, size.bytes)
  const path = await upload(environment, content)
  const leftoversBefore = await countLeftovers(sql)
  const retainedBefore = await retainedBytes(service)
  const slowClients = new SlowClients(environment, path, content, size)
  try {
    await settle(service)
    const keptGrowth = (await retainedBytes(service)) - retainedBefore
    slowClients.stop()
    const { busy, in_transaction } = await watchConnections(environment, size.stillMs)
    const { lost } = slowClients
    const hasFinished = await slowClients.finish()
    slowClients.cut()
    await eventually('nothing is left', async () => (await countLeftovers(sql)) === leftoversBefore).catch(() => {})
    const leftovers = (await countLeftovers(sql)) - leftoversBefore
    return { busy, in_transaction, lost, hasFinished, keptGrowth, leftovers }
  } finally {
    slowClients.cut()
  }
}

/** Waits until the buffers of the operating system are full: before that no client is slow. */
async function settle(service: ProbedService) {
  await service.look()
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; ) {
    await pause(1_000)
    if ((await service.look()).cpuMs < BUSY_CPU_MS) return
  }
  throw new Error('The slow clients are still being served')
}

/** State of the service's database connections while no client makes progress. */
async function watchConnections({ sql }: FilesEnvironment, forMs: number) {
  // Bytes that were received before are still being written.
  await pause(500)
  const found = { busy: 0, in_transaction: 0 }
  for (const end = performance.now() + forMs; performance.now() < end; ) {
    const { rows } = await sql.query<{ busy: number; in_transaction: number }>(
      `select count(*) filter (where state <> 'idle')::int as busy, count(xact_start)::int as in_transaction
       from pg_stat_activity where datname = current_database() and application_name = 'lockstep'`,
    )
    found.busy = Math.max(found.busy, rows[0]?.busy ?? 0)
    found.in_transaction = Math.max(found.in_transaction, rows[0]?.in_transaction ?? 0)
    await pause(50)
  }
  return found
}

/** Slow uploads, slow downloads, and downloads that are not read. */
class SlowClients {
  private readonly uploads: Socket[]
  private readonly downloads: Socket[]
  private readonly form: Buffer
  private readonly step: number
  private readonly timer: NodeJS.Timeout
  private sent = 0
  lost = 0

  constructor(environment: FilesEnvironment, path: string, content: Buffer, { clients, rate }: SlowSize) {
    this.form = Buffer.concat(formOf(content))
    this.step = Math.ceil((rate * STEP_MS) / 1_000)
    const open = (head: string) => {
      const socket = openSocket(environment)
      socket.once('close', () => this.lost++)
      socket.write(head)
      return socket
    }
    this.uploads = Array.from({ length: clients }, () => open(uploadHead(environment, this.form.length)))
    this.downloads = Array.from({ length: 2 * clients }, () => open(downloadHead(environment, path)))
    this.timer = setInterval(() => this.go(clients), STEP_MS)
  }

  private go(readers: number) {
    const piece = this.form.subarray(this.sent, this.sent + this.step)
    this.sent += piece.length
    for (const socket of this.uploads) if (!socket.destroyed) socket.write(piece)
    for (const socket of this.downloads.slice(0, readers)) socket.read(Math.min(this.step, socket.readableLength))
  }

  /** All clients stall. */
  stop() {
    clearInterval(this.timer)
  }

  /** One client completes its upload. */
  async finish(): Promise<boolean> {
    const [socket] = this.uploads
    if (!socket) return false
    await write(socket, this.form.subarray(this.sent))
    return (await statusOf(socket, 30_000)) === 201
  }

  cut() {
    this.stop()
    for (const socket of [...this.uploads, ...this.downloads]) {
      socket.removeAllListeners('close')
      socket.destroy()
    }
  }
}
