import { setTimeout as pause } from 'node:timers/promises'
import { type Audience, makeBoard, type ProbedService } from '@lockstep/testing/load/environment'
import { LoadClients } from '@lockstep/testing/load/socket-clients'
import type pg from 'pg'
import { isGapless, RawClient } from './raw-client.ts'

/** Long enough to fill the buffers of the operating system and be paused, short enough not to be evicted. */
const SLEEP_MS = 2_000
const DESCRIPTION = 'slow '.repeat(12_000)

export interface SlowReaderResult {
  /** Whether the other clients received `user_left` for each slow user in time. */
  wereEvicted: boolean
  ends: (number | 'cut')[]
  /** Events that each slow client received before it was closed. */
  seenBefore: number[]
  isComplete: boolean
  /** Whether a client that read nothing for two seconds caught up on the same connection. */
  hasCaughtUp: boolean
  /** Memory in use after a garbage collection: before, and the maximum while the slow clients were connected. */
  memoryBefore: number
  maxMemory: number
  events: number
}

/** Connects clients that read a kilobyte per second to a board with many events. */
export async function measureSlowReaders(
  service: ProbedService,
  sql: pg.Pool,
  audience: Audience,
  { slow, healthy, rate, timeoutSeconds }: { slow: number; healthy: number; rate: number; timeoutSeconds: number },
): Promise<SlowReaderResult> {
  const board = await makeBoard(service.baseUrl, sql, audience)
  const others = new LoadClients()
  try {
    await others.open(service.baseUrl, board.paths.slice(0, healthy), 200)
    await others.until('the healthy clients are connected', (counts) => counts.hellos === healthy)
    await others.forget()
    const paths = board.paths.slice(healthy, healthy + slow)
    const clients = paths.map((path) => new RawClient(service.baseUrl, `${path}&seq=1`).readSlowly(1_024))
    const sleeper = new RawClient(service.baseUrl, `${board.paths[healthy + slow]}&seq=1`)
    await others.until('the slow clients are connected', ({ joined }) => joined >= healthy * (slow + 1))
    await others.forget()

    const startedAt = performance.now()
    let [last, events, memoryBefore, maxMemory] = [0, 0, 0, 0]
    const inFlight: Promise<unknown>[] = []
    // A slow client sees its close frame only after everything it has not read, so `user_left` at the other clients is used.
    let [isOver, wereEvicted] = [false, false]
    setTimeout(() => sleeper.readAll(), SLEEP_MS)
    while (!isOver) {
      inFlight.push(
        board.addCard(DESCRIPTION).then(({ seq }) => {
          last = Math.max(last, seq)
        }),
      )
      if (++events % rate === 0) {
        // Requests in progress, and events on their way to clients that read, do not count as memory in use.
        await Promise.all(inFlight.splice(0))
        await others.until('the healthy clients have every event', (counts) => counts.events >= events * healthy)
        const [{ heapUsed, external }, { left }] = await Promise.all([service.weigh(), others.count()])
        maxMemory = Math.max(maxMemory, heapUsed + external)
        // The first second is a warm-up: the buffers of the operating system take all of it.
        if (events === rate) memoryBefore = heapUsed + external
        wereEvicted = left >= slow * healthy
        isOver = wereEvicted || performance.now() - startedAt > timeoutSeconds * 1_000
      }
      await pause(Math.max(0, startedAt + (events * 1_000) / rate - performance.now()))
    }
    await Promise.all(inFlight)
    const got = clients.map((client) => client.readAll())
    // Otherwise they would never end.
    if (!wereEvicted) for (const client of got) client.socket.destroy()
    const ends = (await Promise.all(got.map((client) => client.closed))).map(({ code }) => code)
    const seenBefore = got.map((client) => client.seqs.length)

    // They resume, and read at full speed.
    const again = got.map(({ epoch, position }, i) =>
      new RawClient(service.baseUrl, `${paths[i]}&since=${epoch}.${position}`).readAll(),
    )
    await others.until('the healthy clients have every event', (counts) => counts.events >= events * healthy)
    const deadline = performance.now() + 20_000
    while ([...again, sleeper].some((client) => client.seqs.at(-1) !== last) && performance.now() < deadline)
      await pause(20)
    const isComplete = got.every((client, i) => {
      const all = [...client.seqs, ...(again[i]?.seqs ?? [])]
      return isGapless(all) && all.at(-1) === last
    })
    const hasCaughtUp = sleeper.seqs.length === events && isGapless(sleeper.seqs) && !sleeper.socket.closed
    for (const client of [...again, sleeper]) client.socket.destroy()
    return { wereEvicted, ends, seenBefore, isComplete, hasCaughtUp, memoryBefore, maxMemory, events }
  } finally {
    await others.end()
  }
}
