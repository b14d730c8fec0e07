import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { LoadClients } from './load-clients.ts'
import { type Audience, makeIdleBoards, type ProbedService, type Seen } from './realtime-stage.ts'

export interface IdleSockets {
  /** What the process weighed at each number of sockets: resident, and kept on the heap and outside it. */
  weights: { sockets: number; rss: number; kept: number }[]
  bytes_each: number
  kept_each: number
  pings: number
  closed: number
  loop: Seen
}

/** Sockets over many boards on which nothing happens but the heartbeat. */
export async function keepIdle(
  service: ProbedService,
  sql: pg.Pool,
  audience: Audience,
  size: { sockets: number; each: number; rate: number; seconds: number; steps: number },
  progress: (line: string) => void,
): Promise<IdleSockets> {
  const paths = await makeIdleBoards(sql, audience, Math.ceil(size.sockets / size.each), size.each)
  const load = new LoadClients(2)
  try {
    const weights: IdleSockets['weights'] = []
    const weigh = async (sockets: number) => {
      const { rss, heapUsed, external } = await service.weigh()
      weights.push({ sockets, rss, kept: heapUsed + external })
    }
    // The first hundred warm it up: what is loaded and compiled for the first socket is no socket's weight.
    const warm = 100
    const step = Math.ceil((size.sockets - warm) / size.steps)
    for (let there = 0; there < size.sockets; ) {
      const next = Math.min(size.sockets, there === 0 ? warm : there + step)
      await load.open(service.base_url, paths.slice(there, next), size.rate)
      await load.until('all are there', ({ hellos }) => hellos === next)
      there = next
      await weigh(there)
      progress(`${there} idle sockets`)
    }
    await load.forget()
    await service.look()
    await pause(size.seconds * 1_000)
    const counts = await load.count()
    const loop = await service.look()
    await weigh(size.sockets)
    const [first, last] = [weights[0], weights.at(-1)] as [IdleSockets['weights'][0], IdleSockets['weights'][0]]
    const more = last.sockets - first.sockets
    return {
      weights,
      bytes_each: (last.rss - first.rss) / more,
      kept_each: (last.kept - first.kept) / more,
      pings: counts.pings,
      closed: size.sockets - counts.open,
      loop,
    }
  } finally {
    await load.end()
  }
}
