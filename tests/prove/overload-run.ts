import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openPool, type ProbedService, startBare, startProbed } from '@lockstep/testing/load/environment'
import { Asker } from '@lockstep/testing/load/http-connection'
import { byTurns, withCpu, withFreeCores } from '@lockstep/testing/load/measure'
import { LoadClients } from '@lockstep/testing/load/socket-clients'
import { freePort } from '@lockstep/testing/ports'
import { endProcesses, type ServiceProcess, startPostgres, startRedis } from '@lockstep/testing/processes'
import type pg from 'pg'
import { FULL as BENCH } from '../../bench/size.ts'
import { lostWrites } from './overload-judge.ts'
import type { Outcome, Window } from './overload-load.ts'
import { Askers, type CrowdSize, makeCrowd, readLog } from './overload-stage.ts'
import type { Progress } from './report.ts'

export interface FloodSize extends CrowdSize {
  /** How many times as much is asked as can be done. */
  times: number
  /** Connections of those who ask in the flood, all open before it begins. */
  connections: number
  /** How long an instance works before anything is measured of it: until its code is compiled. */
  warm_seconds: number
  /**
   * How many ask at once when it is measured how much the service can do. No more than it has places: whoever is sent away
   * would ask again at once, and refusals would be measured with the answers.
   */
  askers: number[]
  peak_seconds: number
  /** Short floods, each beside a measurement of the peak. */
  pairs: number
  before_seconds: number
  flood_seconds: number
  after_seconds: number
  without_seconds: number
  /** How long it is measured what an answer costs, and a refusal. */
  cost_seconds: number
}
/** What was done in a second, and on how many cores: what others left of the machine. */
export interface Rate {
  rate: number
  free: number
}
const SINK = fileURLToPath(new URL('overload-sink.ts', import.meta.url))

/** Measures what the service can do, asks it for several times as much, and leaves it in peace again. */
export async function runFlood(size: FloodSize, progress: Progress) {
  const settings = Object.entries(BENCH.postgres).map(([name, value]) => `${name}=${value}`)
  const [postgres, redis] = await Promise.all([startPostgres({ settings }), startRedis()])
  const sql = openPool(postgres.url)
  const [askers, bystanders, viewers] = [new Askers(), new Askers(), new LoadClients(1)]
  const sink_port = await freePort()
  const sink = fork(SINK, [String(sink_port)], { execArgv: [] })
  try {
    await once(sink, 'message')
    const stores = { DATABASE_URL: postgres.url, REDIS_URL: redis.url }
    const service = await startProbed(stores)
    const crowd = await makeCrowd(sql, size)
    await Promise.all([askers.prepare(crowd.requests), bystanders.prepare(crowd.requests)])
    await viewers.open(service.base_url, crowd.sockets, 200)
    await viewers.until('all are there', ({ hellos }) => hellos === crowd.sockets.length)
    const port = portOf(service)
    const { connections } = size
    const warmUp = (at_port: number): Window => ({
      port: at_port,
      connections: Math.max(...size.askers),
      ms: size.warm_seconds * 1_000,
    })
    const seen: Outcome[] = []
    const pids = { service: service.pid, postgres: postgres.process().pid, askers: askers.pid }
    const run = async (window: Window) => {
      // All that works here: this process with its children, and the backends of PostgreSQL.
      const measured = await withFreeCores([process.pid, pids.postgres], () => withCpu(pids, () => askers.run(window)))
      const { result: outcome, cpu } = measured.result
      seen.push(outcome)
      return { outcome, cpu, free: measured.free }
    }
    const peakOf = async (at_once: number) => {
      const { outcome, free } = await run({ port, connections: at_once, ms: size.peak_seconds * 1_000 })
      const rate = outcome.good / size.peak_seconds
      progress(`${at_once} who wait for their answers: ${Math.round(rate)} a second, ${outcome.shed} sent away`)
      return { rate, free, at_once }
    }

    progress(`it warms up, for ${size.warm_seconds} s`)
    await run(warmUp(port))
    progress('how much it can do')
    const peaks: Awaited<ReturnType<typeof peakOf>>[] = []
    for (const at_once of size.askers) peaks.push(await peakOf(at_once))
    const alone = peaks.reduce((a, b) => (b.rate > a.rate ? b : a))
    // What one process cannot send does not count as offered: for 7,000 a second it needed a fifth of a core.
    const rate = size.times * alone.rate

    /** One second for the rush at the beginning; what follows it is counted. */
    const floodBriefly = async (): Promise<Rate> => {
      const { outcome, free } = await run({
        port,
        connections,
        phases: [{ rate, ms: (size.peak_seconds + 1) * 1_000 }],
      })
      const done = outcome.moments.slice(1).reduce((sum, { good }) => sum + good, 0) / size.peak_seconds
      progress(`${size.times} times as much: ${Math.round(done)} a second`)
      return { rate: done, free }
    }
    const peakBesideOthers = async (): Promise<Rate> => {
      const ms = size.peak_seconds * 1_000
      const phases = [{ rate: rate - alone.rate, ms }]
      const [peak] = await Promise.all([
        peakOf(alone.at_once),
        bystanders.run({ port: sink_port, connections, phases }),
      ])
      return peak
    }
    const turns = await byTurns(size.pairs, { peak: peakBesideOthers, flood: floodBriefly })
    const pairs = turns.peak.map((peak, i) => ({ peak, flood: turns.flood[i] as Rate }))

    progress(`${size.times} times as much, for ${size.flood_seconds} s`)
    const rest = { rate: alone.rate / 2, isRest: true }
    const phases = [
      { ...rest, ms: size.before_seconds * 1_000 },
      { rate, ms: size.flood_seconds * 1_000 },
      { ...rest, ms: size.after_seconds * 1_000 },
    ]
    const watch = startWatch(service)
    const flood = await run({ port, connections, phases })
    const watched = await watch.end()

    progress('every event has reached every socket')
    const log = await readLog(sql, crowd.boards)
    const events = log.slice(0, size.watched).reduce((sum, seqs) => sum + seqs.size, 0) * size.watchers
    const counts = await viewers
      .until('every event has come', (now) => now.events >= events, 20_000)
      .catch(() => viewers.count())
    const acknowledged = seen.flatMap((outcome) => outcome.acknowledged)

    progress('the same without the door')
    const open = await startBare({ ...stores, MAX_REQUESTS_AT_ONCE: '1000000' })
    await bystanders.run(warmUp(portOf(open)))
    const without = [{ rate, ms: size.without_seconds * 1_000 }]
    const unguarded = await bystanders.run({ port: portOf(open), connections, phases: without })
    // It still works for those who have gone, and would go on beside what is measured next.
    await open.end('SIGKILL')
    progress('what an answer costs, and a refusal')
    const costs = await measureCosts(bystanders, { sql, stores, size, at_once: alone.at_once, rate })
    return {
      alone,
      costs,
      pairs,
      flood,
      watched,
      unguarded,
      sockets: { expected: crowd.sockets.length, events, counts },
      acknowledged: acknowledged.length,
      lost: lostWrites(acknowledged, log),
      wrong: seen.flatMap((outcome) => Object.entries(outcome.wrong)).map(([what, count]) => `${count} × ${what}`),
    }
  } finally {
    await askers.end()
    await bystanders.end()
    if (sink.connected) sink.disconnect()
    await viewers.end()
    await sql.end()
    await endProcesses()
  }
}

interface CostSetting {
  sql: pg.Pool
  stores: Record<string, string>
  size: FloodSize
  at_once: number
  rate: number
}
/** Microseconds of processor time for an answer and for a refusal, of one instance that has long given both. */
async function measureCosts(askers: Askers, { sql, stores, size, at_once, rate }: CostSetting) {
  const service = await startBare(stores)
  const port = portOf(service)
  const { connections, cost_seconds } = size
  // One second before it, until all is as it stays, and one after it: the end of the asking is not measured.
  const ms = (1 + cost_seconds + 1) * 1_000
  const costOf = async (what: 'good' | 'shed', window: Window) => {
    const asking = askers.run(window)
    await pause(1_000)
    const { cpu } = await withCpu({ service: service.pid }, () => pause(cost_seconds * 1_000))
    const { moments } = await asking
    const given = moments.slice(1, 1 + cost_seconds).reduce((sum, moment) => sum + moment[what], 0)
    return (cpu.service * 1_000) / given
  }
  // In a flood it gives both, and so warms up for both.
  await askers.run({ port, connections, phases: [{ rate, ms: size.warm_seconds * 1_000 }] })
  const answer_us = await costOf('good', { port, connections: at_once, ms })
  await using _ = await lockUsers(sql)
  return { answer_us, refusal_us: await costOf('shed', { port, connections, phases: [{ rate, ms }] }) }
}

/** Nobody can be answered any more: whoever has a place waits for this lock, and all others are sent away. */
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

const portOf = ({ base_url }: ServiceProcess) => Number(new URL(base_url).port)

/** Looks at the service from outside and from inside, until it is told to end. */
function startWatch(service: ProbedService) {
  const begun = performance.now()
  const health_ms: number[] = []
  const health_by_second: number[] = []
  const loop_ms: number[] = []
  let unhealthy = 0
  let isOver = false
  const askHealth = async () => {
    for (let next = begun; !isOver; next += 100) {
      const second = Math.floor((performance.now() - begun) / 1_000)
      // A new connection each time, as those who look after a service ask.
      using asker = new Asker(service.base_url, '')
      const { status, ms } = await asker.ask('GET', '/health')
      if (status !== 200) unhealthy++
      health_ms.push(ms)
      health_by_second[second] = Math.max(health_by_second[second] ?? 0, ms)
      await pause(Math.max(0, next + 100 - performance.now()))
    }
  }
  const lookInside = async () => {
    await service.look()
    for (let next = begun + 1_000; !isOver; next += 1_000) {
      await pause(Math.max(0, next - performance.now()))
      loop_ms.push((await service.look()).wall_max)
    }
  }
  const done = Promise.all([askHealth(), lookInside()])
  return {
    end: async () => {
      isOver = true
      await done
      return { health_ms, health_by_second: Array.from(health_by_second, (ms) => ms ?? 0), loop_ms, unhealthy }
    },
  }
}
