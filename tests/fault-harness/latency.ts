import { setTimeout as pause } from 'node:timers/promises'
import { hear } from '@lockstep/testing/processes'
import { seeded } from '@lockstep/testing/random'
import { percentile } from '@lockstep/testing/statistics'
import { channelOf } from '../../packages/server/src/realtime/bus.ts'
import type { World } from './environment.ts'
import { type Dump, type History, now } from './history.ts'
import { Listener } from './listeners.ts'
import { areConnected, judge, newHistory, observe } from './run.ts'
import { startWriters } from './writers.ts'

const WRITTEN_ON = 1
const READ_ON = 2

export interface Latency {
  violations: string[]
  rate: number
  /** The way from the commit to a client of the other instance, and its parts, in milliseconds. */
  hops: { hop: string; p50_ms: number; p99_ms: number; share: number }[]
}

/** From the commit on one instance to a client of another, and where the time goes. */
export async function measureLatency(
  world: World,
  direct_url: string,
  { seed, rate, ms }: { seed: number; rate: number; ms: number },
): Promise<Latency> {
  const random = seeded(seed)
  const history = newHistory(world, seed)
  const stopObserving = observe(world, history, random)
  const about = { world, history, random, bodies: new Map<string, string>() }
  const listeners = world.boards.flatMap((board, i) =>
    [WRITTEN_ON, READ_ON].map((instance) => {
      const listener = new Listener(2 * i + instance, 'numbered', board, random.pick(world.viewers), about)
      listener.connect(instance)
      return listener
    }),
  )
  await areConnected(listeners)
  const bells = await Promise.all(world.boards.map((board) => hear(direct_url, channelOf(board.id))))
  const heard = new Map<string, number>()
  bells.forEach((bell, i) => {
    const push = bell.messages.push.bind(bell.messages)
    bell.messages.push = (message) => {
      const [kind, , seq] = message.split('|', 3)
      if (kind === 'e') heard.set(`${world.boards[i]?.id} ${seq}`, now())
      return push(message)
    }
  })
  const writers = startWriters(world, history, random, { rate, instance: WRITTEN_ON })
  const began = now()
  await pause(ms)
  await writers.stop()
  const seconds = (now() - began) / 1_000
  await pause(500)
  stopObserving()
  for (const bell of bells) bell[Symbol.dispose]()
  const { dump, violations } = await judge(world, history, listeners)
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
      const [here, bell, there] = [near.get(key), heard.get(key), far.get(key)]
      return here && bell && there ? [{ here: here - committed, bell: bell - committed, there: there - committed }] : []
    })
  const total = rows.reduce((sum, row) => sum + row.there, 0)
  const line = (hop: string, of: (row: { here: number; bell: number; there: number }) => number) => {
    const times = rows.map(of)
    return {
      hop,
      p50_ms: percentile(times, 50),
      p99_ms: percentile(times, 99),
      share: times.reduce((sum, time) => sum + time, 0) / total,
    }
  }
  return [
    line('commit → client of the same instance', (row) => row.here),
    line('commit → Redis → a subscriber', (row) => row.bell),
    line('subscriber → client of the other instance', (row) => row.there - row.bell),
    line('commit → client of the other instance', (row) => row.there),
  ]
}
