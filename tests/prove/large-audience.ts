import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { LoadClients, percentile } from './load-clients.ts'
import { type Audience, makeBoard, type ProbedService, type Seen } from './realtime-stage.ts'

export interface LargeAudience {
  arriving: { seconds: number; loop: Seen; presence: number; broken: number }
  events: { loop: Seen; p50: number; p99: number; spread_p50: number; spread_most: number; isWhole: boolean }
  beating: { loop: Seen; pings: number; seconds: number; closed: number }
  leaving: Seen
}

/** Many viewers of one board: they come at a rate, see events, are pinged, and all go at once. */
export async function watchLargeAudience(
  service: ProbedService,
  sql: pg.Pool,
  audience: Audience,
  size: { viewers: number; rate: number; events: number; beat_seconds: number },
): Promise<LargeAudience> {
  const { viewers } = size
  const board = await makeBoard(service.base_url, sql, audience)
  const load = new LoadClients(viewers > 1_000 ? 2 : 1)
  try {
    await service.look()
    const begun = performance.now()
    await load.open(service.base_url, board.paths.slice(0, viewers), size.rate)
    const there = await load.until('all are there', ({ hellos }) => hellos === viewers, 120_000)
    const seconds = (performance.now() - begun) / 1_000
    const arriving = { seconds, loop: await service.look(), presence: 0, broken: there.broken }
    // Everybody is told of himself and of all who come after him.
    const all = await load.until('all know', ({ joined }) => joined >= (viewers * (viewers + 1)) / 2)
    arriving.presence = all.joined

    await load.forget()
    await service.look()
    const sent = new Map<number, number>()
    for (let i = 1; i <= size.events; i++) {
      const { seq, sent_at } = await board.addCard()
      sent.set(seq, sent_at)
      await load.until('all have the event', (counts) => counts.events >= viewers * i)
    }
    const loop = await service.look()
    const { latencies, each } = await load.arrivals(sent)
    const counts = await load.count()
    const spreads = each.map(({ first, last }) => last - first).sort((a, b) => a - b)
    const events = {
      loop,
      p50: percentile(latencies, 50),
      p99: percentile(latencies, 99),
      spread_p50: percentile(spreads, 50),
      spread_most: spreads.at(-1) ?? 0,
      isWhole: counts.gaps + counts.repeats === 0 && counts.events === viewers * size.events,
    }

    await load.forget()
    await service.look()
    await pause(size.beat_seconds * 1_000)
    const beaten = await load.count()
    const beating = {
      loop: await service.look(),
      pings: beaten.pings,
      seconds: size.beat_seconds,
      closed: viewers - beaten.open,
    }
    await load.close()
    await pause(1_000)
    return { arriving, events, beating, leaving: await service.look() }
  } finally {
    await load.end()
  }
}
