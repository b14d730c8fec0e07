import { setTimeout as pause } from 'node:timers/promises'
import { startStores } from '@lockstep/testing/environment'
import { type ProbedService, startProbed } from '@lockstep/testing/load/environment'
import { HttpClient } from '@lockstep/testing/load/http-client'
import { type LoadResult, LoadWorker, type Schedule } from '@lockstep/testing/load/http-load'
import { DURABLE_POSTGRES } from '@lockstep/testing/load/measure'
import { lostWrites } from '@lockstep/testing/load/overload-checks'
import { LoadClients } from '@lockstep/testing/load/socket-clients'
import { readLog, seedWorkload, type WorkloadSize } from './overload-workload.ts'
import type { Progress } from './report.ts'

export interface OverloadSize extends WorkloadSize {
  /** The offered rate, as a multiple of the peak rate. */
  times: number
  /** Open connections during the overload. */
  connections: number
  /** How long an instance runs before it is measured, so that its code is compiled. */
  warmUpSeconds: number
  /**
   * Numbers of concurrent requests with which the peak rate is measured. At most the number of slots of the service:
   * otherwise clients would repeat rejected requests at once, and the rejections would be measured too.
   */
  concurrency: number[]
  peakSeconds: number
  beforeSeconds: number
  overloadSeconds: number
  afterSeconds: number
}
/** Measures the peak rate of the service, offers several times as much, and then half of it. */
export async function runOverload(size: OverloadSize, progress: Progress) {
  await using stores = await startStores({ postgres: DURABLE_POSTGRES })
  const settings = stores.settings()
  const [load, viewers] = [new LoadWorker(), new LoadClients(1)]
  try {
    const service = await startProbed(settings)
    const sql = stores.pool('lockstep')
    const workload = await seedWorkload(sql, size)
    await load.prepare('mixed', workload.requests)
    await viewers.open(service.baseUrl, workload.sockets, 200)
    await viewers.until('all sockets are open', ({ hellos }) => hellos === workload.sockets.length)
    const { connections } = size
    const warmUp: Schedule = { connections: Math.max(...size.concurrency), ms: size.warmUpSeconds * 1_000 }
    const results: LoadResult[] = []
    const run = async (schedule: Schedule) => {
      const result = await load.run('mixed', service.baseUrl, schedule)
      results.push(result)
      return result
    }

    progress(`warming up for ${size.warmUpSeconds} s`)
    await run(warmUp)
    progress('peak rate')
    let peak = 0
    for (const concurrency of size.concurrency) {
      const { inTime, rejected } = await run({ connections: concurrency, ms: size.peakSeconds * 1_000 })
      progress(`${concurrency} concurrent requests: ${Math.round(inTime / size.peakSeconds)}/s, ${rejected} rejected`)
      peak = Math.max(peak, inTime / size.peakSeconds)
    }

    progress(`${size.times} times the peak rate for ${size.overloadSeconds} s`)
    const calm = { rate: peak / 2, isExcluded: true }
    const phases = [
      { ...calm, ms: size.beforeSeconds * 1_000 },
      { rate: size.times * peak, ms: size.overloadSeconds * 1_000 },
      { ...calm, ms: size.afterSeconds * 1_000 },
    ]
    const watch = startWatch(service)
    const overload = await run({ connections, phases })
    const watched = await watch.end()

    progress('waiting until every event has reached every socket')
    const log = await readLog(sql, workload.boards)
    const events = log.slice(0, size.watched).reduce((sum, seqs) => sum + seqs.size, 0) * size.watchers
    const counts = await viewers
      .until('every event has arrived', (now) => now.events >= events, 20_000)
      .catch(() => viewers.count())
    const acknowledged = results.flatMap((result) => result.acknowledged)

    return {
      peak,
      overload,
      watched,
      sockets: { expected: workload.sockets.length, events, counts },
      acknowledged: acknowledged.length,
      lost: lostWrites(acknowledged, log),
      wrong: results.flatMap((result) => Object.entries(result.wrong)).map(([what, count]) => `${count} × ${what}`),
    }
  } finally {
    await Promise.all([load.end(), viewers.end()])
  }
}

/** Measures `/health` from outside and the event loop from inside, until it is ended. */
function startWatch(service: ProbedService) {
  const startedAt = performance.now()
  const healthMs: number[] = []
  const healthBySecond: number[] = []
  const loopMs: number[] = []
  let unhealthy = 0
  let isOver = false
  const watchHealth = async () => {
    for (let next = startedAt; !isOver; next += 100) {
      const second = Math.floor((performance.now() - startedAt) / 1_000)
      // A new connection each time, like the health check of a load balancer.
      using client = new HttpClient(service.baseUrl, '')
      const { status, ms } = await client.request('GET', '/health')
      if (status !== 200) unhealthy++
      healthMs.push(ms)
      healthBySecond[second] = Math.max(healthBySecond[second] ?? 0, ms)
      await pause(Math.max(0, next + 100 - performance.now()))
    }
  }
  const watchLoop = async () => {
    await service.look()
    for (let next = startedAt + 1_000; !isOver; next += 1_000) {
      await pause(Math.max(0, next - performance.now()))
      loopMs.push((await service.look()).wallMax)
    }
  }
  const done = Promise.all([watchHealth(), watchLoop()])
  return {
    end: async () => {
      isOver = true
      await done
      return { healthMs, healthBySecond: Array.from(healthBySecond, (ms) => ms ?? 0), loopMs, unhealthy }
    },
  }
}
