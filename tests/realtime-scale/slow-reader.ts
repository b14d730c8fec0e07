import { setTimeout as pause } from 'node:timers/promises'
import { type Audience, makeBoard, type ProbedService } from '@lockstep/testing/load/environment'
import { LoadClients } from '@lockstep/testing/load/socket-clients'
import type pg from 'pg'
import { isGapless, RawClient } from './raw-client.ts'

/** Long enough to fill the system's buffers and be paused, short enough not to be let go. */
const SLEEP_MS = 2_000
const DESCRIPTION = 'slow '.repeat(12_000)

export interface SlowReaders {
  /** Whether the other viewers were told, in time, that each slow user had left. */
  wereLetGo: boolean
  ends: (number | 'cut')[]
  /** Events that a slow client received before it was closed. */
  before: number[]
  isWhole: boolean
  /** Whether a client that read nothing for two seconds caught up on the same connection. */
  hasCaughtUp: boolean
  /** Memory in use after a garbage collection: before, and at most while the slow clients were connected. */
  weight_before: number
  weight_most: number
  events: number
}

/** Clients that read a kilobyte a second, on a board with many events. */
export async function watchSlowReaders(
  service: ProbedService,
  sql: pg.Pool,
  audience: Audience,
  { slow, healthy, rate, patience_s }: { slow: number; healthy: number; rate: number; patience_s: number },
): Promise<SlowReaders> {
  const board = await makeBoard(service.base_url, sql, audience)
  const viewers = new LoadClients()
  try {
    await viewers.open(service.base_url, board.paths.slice(0, healthy), 200)
    await viewers.until('the healthy are there', (counts) => counts.hellos === healthy)
    await viewers.forget()
    const paths = board.paths.slice(healthy, healthy + slow)
    const clients = paths.map((path) => new RawClient(service.base_url, `${path}&seq=1`).readSlowly(1_024))
    const sleeper = new RawClient(service.base_url, `${board.paths[healthy + slow]}&seq=1`)
    await viewers.until('the slow are there', ({ joined }) => joined >= healthy * (slow + 1))
    await viewers.forget()

    const begun = performance.now()
    let [last, events, weight_before, weight_most] = [0, 0, 0, 0]
    const underWay: Promise<unknown>[] = []
    // A slow client learns of its end last, after everything that it has not read. The others are told that its user left.
    let [isOver, wereLetGo] = [false, false]
    setTimeout(() => sleeper.readAll(), SLEEP_MS)
    while (!isOver) {
      underWay.push(
        board.addCard(DESCRIPTION).then(({ seq }) => {
          last = Math.max(last, seq)
        }),
      )
      if (++events % rate === 0) {
        // Requests in progress do not count as memory in use.
        await Promise.all(underWay.splice(0))
        const [{ heapUsed, external }, { left }] = await Promise.all([service.weigh(), viewers.count()])
        weight_most = Math.max(weight_most, heapUsed + external)
        // The first second is a warm-up: the buffers of the operating system take all of it.
        if (events === rate) weight_before = heapUsed + external
        wereLetGo = left >= slow * healthy
        isOver = wereLetGo || performance.now() - begun > patience_s * 1_000
      }
      await pause(Math.max(0, begun + (events * 1_000) / rate - performance.now()))
    }
    await Promise.all(underWay)
    const got = clients.map((client) => client.readAll())
    // Otherwise they would never end.
    if (!wereLetGo) for (const client of got) client.socket.destroy()
    const ends = (await Promise.all(got.map((client) => client.ended))).map(({ code }) => code)
    const before = got.map((client) => client.seqs.length)

    // They resume, and read at full speed.
    const again = got.map(({ epoch, position }, i) =>
      new RawClient(service.base_url, `${paths[i]}&since=${epoch}.${position}`).readAll(),
    )
    await viewers.until('the healthy have it all', (counts) => counts.events >= events * healthy)
    const deadline = performance.now() + 20_000
    while ([...again, sleeper].some((client) => client.seqs.at(-1) !== last) && performance.now() < deadline)
      await pause(20)
    const isWhole = got.every((client, i) => {
      const all = [...client.seqs, ...(again[i]?.seqs ?? [])]
      return isGapless(all) && all.at(-1) === last
    })
    const hasCaughtUp = sleeper.seqs.length === events && isGapless(sleeper.seqs) && !sleeper.socket.closed
    for (const client of [...again, sleeper]) client.socket.destroy()
    return { wereLetGo, ends, before, isWhole, hasCaughtUp, weight_before, weight_most, events }
  } finally {
    await viewers.end()
  }
}
