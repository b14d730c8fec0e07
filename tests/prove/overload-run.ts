import { setTimeout as pause } from 'node:timers/promises'
import { startStores } from '@lockstep/testing/environment'
import { type ProbedService, startBare, startProbed } from '@lockstep/testing/load/environment'
import { HttpClient } from '@lockstep/testing/load/http-client'
import { type LoadResult, LoadWorker, type Schedule } from '@lockstep/testing/load/http-load'
import { byTurns, DURABLE_POSTGRES, withCpu, withFreeCores } from '@lockstep/testing/load/measure'
import { lostWrites } from '@lockstep/testing/load/overload-checks'
import { LoadClients } from '@lockstep/testing/load/socket-clients'
import { Worker } from '@lockstep/testing/load/worker'
import type pg from 'pg'
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
  /** Short overloads, each beside a measurement of the peak rate. */
  pairs: number
  beforeSeconds: number
  overloadSeconds: number
  afterSeconds: number
  /** Duration of the overload without admission control. */
  withoutSeconds: number
  /** Duration of the measurement of CPU time per response and per rejection. */
  costSeconds: number
}
/** Responses per second, and the number of cores that other processes left. */
export interface Rate {
  rate: number
  free: number
}

/** Measures the peak rate of the service, offers several times as much, and then half of it. */
export async function runOverload(size: OverloadSize, progress: Progress) {
  await using stores = await startStores({ postgres: DURABLE_POSTGRES })
  const settings = stores.settings()
  const [load, otherLoad, viewers] = [new LoadWorker(), new LoadWorker(), new LoadClients(1)]
  const rejecting = new Worker<'listen'>(new URL('rejecting-server.ts', import.meta.url))
  try {
    const rejectingUrl = `http://127.0.0.1:${(await rejecting.run('listen')) as number}`
    const service = await startProbed(settings)
    const sql = stores.pool('lockstep')
    const workload = await seedWorkload(sql, size)
    await Promise.all([load, otherLoad].map((each) => each.prepare('mixed', workload.requests)))
    await viewers.open(service.baseUrl, workload.sockets, 200)
    await viewers.until('all sockets are open', ({ hellos }) => hellos === workload.sockets.length)
    const { connections } = size
    const warmUp: Schedule = { connections: Math.max(...size.concurrency), ms: size.warmUpSeconds * 1_000 }
    const results: LoadResult[] = []
    const pids = { service: service.pid, postgres: stores.postgres.process().pid, load: load.pid }
    const run = async (schedule: Schedule) => {
      // Everything of this suite: this process with its children, and the backends of PostgreSQL.
      const measured = await withFreeCores([process.pid, pids.postgres], () =>
        withCpu(pids, () => load.run('mixed', service.baseUrl, schedule)),
      )
      const { result, cpu } = measured.result
      results.push(result)
      return { result, cpu, free: measured.free }
    }
    const peakOf = async (concurrency: number) => {
      const { result, free } = await run({ connections: concurrency, ms: size.peakSeconds * 1_000 })
      const rate = result.inTime / size.peakSeconds
      progress(`${concurrency} concurrent requests: ${Math.round(rate)}/s, ${result.rejected} rejected`)
      return { rate, free, concurrency }
    }

    progress(`warming up for ${size.warmUpSeconds} s`)
    await run(warmUp)
    progress('peak rate')
    const peaks: Awaited<ReturnType<typeof peakOf>>[] = []
    for (const concurrency of size.concurrency) peaks.push(await peakOf(concurrency))
    const alone = peaks.reduce((a, b) => (b.rate > a.rate ? b : a))
    const rate = size.times * alone.rate

    /** The first second, in which the queue fills, is not counted. */
    const overloadBriefly = async (): Promise<Rate> => {
      const { result, free } = await run({ connections, phases: [{ rate, ms: (size.peakSeconds + 1) * 1_000 }] })
      const goodput = result.seconds.slice(1).reduce((sum, { inTime }) => sum + inTime, 0) / size.peakSeconds
      progress(`${size.times} times the peak rate: ${Math.round(goodput)}/s`)
      return { rate: goodput, free }
    }
    const peakBesideOtherLoad = async (): Promise<Rate> => {
      const phases = [{ rate: rate - alone.rate, ms: size.peakSeconds * 1_000 }]
      const [peak] = await Promise.all([
        peakOf(alone.concurrency),
        otherLoad.run('mixed', rejectingUrl, { connections, phases }),
      ])
      return peak
    }
    const turns = await byTurns(size.pairs, { peak: peakBesideOtherLoad, overload: overloadBriefly })
    const pairs = turns.peak.map((peak, i) => ({ peak, overload: turns.overload[i] as Rate }))

    progress(`${size.times} times the peak rate for ${size.overloadSeconds} s`)
    const calm = { rate: alone.rate / 2, isExcluded: true }
    const phases = [
      { ...calm, ms: size.beforeSeconds * 1_000 },
      { rate, ms: size.overloadSeconds * 1_000 },
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

    progress('the same without admission control')
    const unlimited = await startBare({ ...settings, MAX_REQUESTS_AT_ONCE: '1000000' })
    await otherLoad.run('mixed', unlimited.baseUrl, warmUp)
    const unguarded = await otherLoad.run('mixed', unlimited.baseUrl, {
      connections,
      phases: [{ rate, ms: size.withoutSeconds * 1_000 }],
    })
    // It still works on abandoned requests, and would disturb the next measurement.
    await unlimited.end('SIGKILL')
    progress('CPU time of a response and of a rejection')
    const costs = await measureCosts(otherLoad, { sql, settings, size, concurrency: alone.concurrency, rate })
    return {
      alone,
      costs,
      pairs,
      overload,
      watched,
      unguarded,
      sockets: { expected: workload.sockets.length, events, counts },
      acknowledged: acknowledged.length,
      lost: lostWrites(acknowledged, log),
      wrong: results.flatMap((result) => Object.entries(result.wrong)).map(([what, count]) => `${count} × ${what}`),
    }
  } finally {
    await Promise.all([load.end(), otherLoad.end(), viewers.end(), rejecting.end()])
  }
}

interface CostOptions {
  sql: pg.Pool
  settings: Record<string, string>
  size: OverloadSize
  concurrency: number
  rate: number
}
/** Microseconds of CPU time per response and per rejection, of one warm instance. */
async function measureCosts(load: LoadWorker, { sql, settings, size, concurrency, rate }: CostOptions) {
  const service = await startBare(settings)
  const { connections, costSeconds } = size
  // One second before the measurement, until the rate is steady, and one after it.
  const ms = (1 + costSeconds + 1) * 1_000
  const costOf = async (what: 'inTime' | 'rejected', schedule: Schedule) => {
    const running = load.run('mixed', service.baseUrl, schedule)
    await pause(1_000)
    const { cpu } = await withCpu({ service: service.pid }, () => pause(costSeconds * 1_000))
    const { seconds } = await running
    const count = seconds.slice(1, 1 + costSeconds).reduce((sum, second) => sum + second[what], 0)
    return (cpu.service * 1_000) / count
  }
  // An overload warms up both kinds of responses.
  await load.run('mixed', service.baseUrl, { connections, phases: [{ rate, ms: size.warmUpSeconds * 1_000 }] })
  const responseMicros = await costOf('inTime', { connections: concurrency, ms })
  await using _ = await lockUsers(sql)
  return { responseMicros, rejectionMicros: await costOf('rejected', { connections, phases: [{ rate, ms }] }) }
}

/** Blocks all accepted requests at the users table, so that all others are rejected. */
async function lockUsers(sql: pg.Pool) {
  const holder = await sql.connect()
  await holder.query('begin')
  await holder.query('lock table users in access exclusive mode')
  return {
    [Symbol.asyncDispose]: async () => {
      await holder.query('rollback')
      holder.release()
    },
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
