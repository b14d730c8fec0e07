import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { LoadClients, percentile } from './load-clients.ts'
import { isGapless, RawClient } from './raw-client.ts'
import { type Audience, type Board, makeBoard, type ProbedService } from './realtime-stage.ts'

/** Long enough to fill the system's buffers and be paused, short enough not to be let go. */
const SLEEP_MS = 2_000
const DESCRIPTION = 'slow '.repeat(12_000)

export interface SlowReaders {
  /** Whether the others were told, in time, that each of the slow had left. */
  wereLetGo: boolean
  ends: (number | 'cut')[]
  /** Events that a slow client got before it was closed, and in all after it came back. */
  before: number[]
  isWhole: boolean
  /** Whether a client that read nothing for some seconds had everything in the end, on the same connection. */
  hasCaughtUp: boolean
  /** What the process held on to before, and at most while the slow were there, after collecting what is garbage. */
  weight_before: number
  weight_most: number
  events: number
  event_bytes: number
  seconds: number
  /** Delivery to the healthy viewers of the board with slow readers, and of the one without, in milliseconds. */
  beside: { p50: number; p99: number }
  alone: { p50: number; p99: number }
}

/**
 * Clients that read a kilobyte a second, on a board on which a lot happens. Writes go to it and to another board by turns,
 * so that healthy viewers with and without slow neighbours are compared under the same load.
 */
export async function watchSlowReaders(
  service: ProbedService,
  sql: pg.Pool,
  audience: Audience,
  { slow, healthy, rate, patience_s }: { slow: number; healthy: number; rate: number; patience_s: number },
): Promise<SlowReaders> {
  const boards = [
    await makeBoard(service.base_url, sql, audience),
    await makeBoard(service.base_url, sql, audience),
  ] as [Board, Board]
  const viewers = [new LoadClients(), new LoadClients()] as const
  try {
    for (const [i, load] of viewers.entries()) {
      await load.open(service.base_url, (boards[i] as Board).paths.slice(0, healthy), 200)
      await load.until('the healthy are there', (counts) => counts.hellos === healthy)
    }
    await viewers[0].forget()
    const paths = boards[0].paths.slice(healthy, healthy + slow)
    const clients = paths.map((path) => new RawClient(service.base_url, `${path}&seq=1`).readSlowly(1_024))
    const sleeper = new RawClient(service.base_url, `${boards[0].paths[healthy + slow]}&seq=1`)
    await viewers[0].until('the slow are there', ({ joined }) => joined >= healthy * (slow + 1))
    for (const load of viewers) await load.forget()

    const sent = [new Map<number, number>(), new Map<number, number>()] as const
    const begun = performance.now()
    let [events, weight_before, weight_most] = [0, 0, 0]
    const underWay: Promise<unknown>[] = []
    // A slow client learns of its end last, behind all that it has not read. The others are told that its user left.
    let [isOver, wereLetGo] = [false, false]
    setTimeout(() => sleeper.readAll(), SLEEP_MS)
    while (!isOver) {
      for (const [i, board] of boards.entries()) {
        underWay.push(board.addCard(DESCRIPTION).then(({ seq, sent_at }) => sent[i]?.set(seq, sent_at)))
      }
      if (++events % rate === 0) {
        // What is under way is not what is kept.
        await Promise.all(underWay.splice(0))
        const [{ heapUsed, external }, { left }] = await Promise.all([service.weigh(), viewers[0].count()])
        weight_most = Math.max(weight_most, heapUsed + external)
        // The first second is for warming up: the system's own buffers take all of it.
        if (events === rate) weight_before = heapUsed + external
        wereLetGo = left >= slow * healthy
        isOver = wereLetGo || performance.now() - begun > patience_s * 1_000
      }
      await pause(Math.max(0, begun + (events * 1_000) / rate - performance.now()))
    }
    await Promise.all(underWay)
    const seconds = (performance.now() - begun) / 1_000
    const got = clients.map((client) => client.readAll())
    // Otherwise they would be waited for in vain.
    if (!wereLetGo) for (const client of got) client.socket.destroy()
    const ends = (await Promise.all(got.map((client) => client.ended))).map(({ code }) => code)
    const counts_before = got.map((client) => client.seqs.length)

    // They come back where they left off, and read at full speed.
    const last = Math.max(...sent[0].keys())
    const again = got.map(({ epoch, position }, i) =>
      new RawClient(service.base_url, `${paths[i]}&since=${epoch}.${position}`).readAll(),
    )
    for (const load of viewers)
      await load.until('the healthy have it all', (counts) => counts.events >= events * healthy)
    const deadline = performance.now() + 20_000
    while ([...again, sleeper].some((client) => client.seqs.at(-1) !== last) && performance.now() < deadline)
      await pause(20)
    const isWhole = got.every((client, i) => {
      const all = [...client.seqs, ...(again[i]?.seqs ?? [])]
      return isGapless(all) && all.at(-1) === last
    })
    const hasCaughtUp = sleeper.seqs.length === events && isGapless(sleeper.seqs) && !sleeper.socket.closed
    for (const client of [...again, sleeper]) client.socket.destroy()
    const [beside, alone] = await Promise.all(
      viewers.map(async (load, i) => {
        const { latencies } = await load.arrivals(sent[i] as Map<number, number>)
        return { p50: percentile(latencies, 50), p99: percentile(latencies, 99) }
      }),
    )
    return {
      wereLetGo,
      ends,
      before: counts_before,
      isWhole,
      hasCaughtUp,
      weight_before,
      weight_most,
      events,
      event_bytes: DESCRIPTION.length,
      seconds,
      beside: beside as SlowReaders['beside'],
      alone: alone as SlowReaders['alone'],
    }
  } finally {
    await Promise.all(viewers.map((load) => load.end()))
  }
}
