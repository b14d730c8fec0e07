import { setTimeout as pause } from 'node:timers/promises'
import { hear } from '@lockstep/testing/processes'
import { seeded } from '@lockstep/testing/random'
import { percentile } from '@lockstep/testing/statistics'
import { channelOf } from '../../packages/server/src/realtime/bus.ts'
import type { FaultEnvironment } from './environment.ts'
import { type Dump, type History, now } from './history.ts'
import { Listener } from './listeners.ts'
import { finishRun, newHistory, observe, waitUntilConnected } from './run.ts'
import { startWriters } from './writers.ts'

const WRITTEN_ON = 1
const READ_ON = 2

export interface Latency {
  violations: string[]
  rate: number
  /** The time from the commit to a client of the other instance, and its parts, in milliseconds. */
  hops: { hop: string; p50Ms: number; p99Ms: number; share: number }[]
}

/** Measures the time from the commit on one instance to a client of another, and its parts. */
export async function measureLatency(
  environment: FaultEnvironment,
  directUrl: string,
  { seed, rate, ms }: { seed: number; rate: number; ms: number },
): Promise<Latency> {
  const random = seeded(seed)
  const history = newHistory(environment, seed)
  const stopObserving = observe(environment, history, random)
  const about = { environment, history, random, bodies: new Map<string, string>() }
  const listeners = environment.boards.flatMap((board, i) =>
    [WRITTEN_ON, READ_ON].map((instance) => {
      const listener = new Listener(2 * i + instance, 'numbered', board, random.pick(environment.viewers), about)
      listener.connect(instance)
      return listener
    }),
  )
  await waitUntilConnected(listeners)
  const subscribers = await Promise.all(environment.boards.map((board) => hear(directUrl, channelOf(board.id))))
  const heard = new Map<string, number>()
  subscribers.forEach((published, i) => {
    const push = published.messages.push.bind(published.messages)
    published.messages.push = (message) => {
      const [kind, , seq] = message.split('|', 3)
      if (kind === 'e') heard.set(`${environment.boards[i]?.id} ${seq}`, now())
      return push(message)
    }
  })
  const writers = startWriters(environment, history, random, { rate, instance: WRITTEN_ON })
  const began = now()
  await pause(ms)
  await writers.stop()
  const seconds = (now() - began) / 1_000
  await pause(500)
  stopObserving()
  for (const published of subscribers) published[Symbol.dispose]()
  const { dump, violations } = await finishRun(environment, history, listeners)
  const written = history.writes.filter((write) => write.outcome === 'ok').length
  return { violations, rate: Math.round(written / seconds), hops: hopsOf(history, dump, heard) }
}

function hopsOf({ connections, began }: History, dump: Dump, heard: Map<string, number>): Latency['hops'] {
  const timesAt = (instance: number) => {
    const own = connections.filter((c) => c.instance === instance)
    return new Map(own.flatMap((c) => c.receipts.map((r) => [`${c.board_id} ${r.seq}`, r.at])))
  }
  const [near, far] = [timesAt(WRITTEN_ON), timesAt(READ_ON)]
  const rows = dump.events
    .filter((row) => row.committed > began)
    .flatMap(({ board_id, seq, committed }) => {
      const key = `${board_id} ${seq}`
      const [here, published, there] = [near.get(key), heard.get(key), far.get(key)]
      return here && published && there
        ? [{ here: here - committed, published: published - committed, there: there - committed }]
        : []
    })
  const total = rows.reduce((sum, row) => sum + row.there, 0)
  const line = (hop: string, of: (row: { here: number; published: number; there: number }) => number) => {
    const times = rows.map(of)
    return {
      hop,
      p50Ms: percentile(times, 50),
      p99Ms: percentile(times, 99),
      share: times.reduce((sum, time) => sum + time, 0) / total,
    }
  }
  return [
    line('commit → client of the same instance', (row) => row.here),
    line('commit → Redis → a subscriber', (row) => row.published),
    line('subscriber → client of the other instance', (row) => row.there - row.published),
    line('commit → client of the other instance', (row) => row.there),
  ]
}
