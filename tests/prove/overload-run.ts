import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { withCpu, withFreeCores } from '../../bench/measure.ts'
import { FULL as BENCH } from '../../bench/size.ts'
import { freePort } from '../../packages/server/testing/ports.ts'
import { endProcesses, startPostgres, startRedis } from '../../packages/server/testing/processes.ts'
import { Asker } from './asking.ts'
import { LoadClients } from './load-clients.ts'
import { lostWrites } from './overload-judge.ts'
import type { Outcome } from './overload-load.ts'
import { Askers, type CrowdSize, lastEvents, makeCrowd } from './overload-stage.ts'
import { openPool, type ProbedService, startBare, startProbed } from './realtime-stage.ts'
import type { Progress } from './report.ts'

export interface FloodSize extends CrowdSize {
  /** How many times as much is asked as can be done. */
  times: number
  /** Connections of those who ask in the flood, all open before it begins. */
  connections: number
  /** How many ask at once when it is measured how much the service can do. */
  askers: number[]
  peak_seconds: number
  /** Short floods, each beside a measurement of the peak. */
  pairs: number
  before_seconds: number
  seconds: number
  after_seconds: number
  without_seconds: number
  /** How long it is measured what a refusal costs. */
  shed_seconds: number
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
    const port = Number(new URL(service.base_url).port)
    const { connections } = size
    const seen: Outcome[] = []
    const pids = { service: service.pid, postgres: postgres.process().pid, askers: askers.pid }
    const run = async (window: Parameters<Askers['run']>[0]) => {
      // All that works here: this process with its children, and the backends of PostgreSQL.
      const measured = await withFreeCores([process.pid, pids.postgres], () => withCpu(pids, () => askers.run(window)))
      const { result: outcome, cpu } = measured.result
      seen.push(outcome)
      return { outcome, cpu, free: measured.free }
    }
    const peakOf = async (at_once: number) => {
      const { outcome, cpu, free } = await run({ port, connections: at_once, ms: size.peak_seconds * 1_000 })
      const rate = outcome.good / size.peak_seconds
      progress(`${at_once} who wait for their answers: ${Math.round(rate)} a second`)
      return { rate, free, at_once, service_us: (cpu.service * 1_000) / outcome.good }
    }

    progress('how much it can do')
    await askers.run({ port, connections: 16, ms: 3_000 })
    const peaks: Awaited<ReturnType<typeof peakOf>>[] = []
    for (const at_once of size.askers) peaks.push(await peakOf(at_once))
    const alone = peaks.reduce((a, b) => (b.rate > a.rate ? b : a))
    const rate = size.times * alone.rate

    /** One second for the rush at the beginning; what follows it is counted. */
    const floodBriefly = async (): Promise<Rate> => {
      const { outcome, free } = await run({
        port,
        connections,
        phases: [{ rate, ms: (size.peak_seconds + 1) * 1_000 }],
      })
      return { rate: outcome.moments.slice(1).reduce((sum, { good }) => sum + good, 0) / size.peak_seconds, free }
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
    const pairs: { peak: Rate; flood: Rate }[] = []
    for (let nth = 0; nth < size.pairs; nth++) {
      pairs.push({ peak: await peakBesideOthers(), flood: await floodBriefly() })
      progress(`${size.times} times as much: ${Math.round(pairs.at(-1)?.flood.rate ?? 0)} a second`)
    }

    progress(`${size.times} times as much, for ${size.seconds} s`)
    const rest = { rate: alone.rate / 2 }
    const phases = [
      { ...rest, ms: size.before_seconds * 1_000 },
      { rate, ms: size.seconds * 1_000 },
      { ...rest, ms: size.after_seconds * 1_000 },
    ]
    const watch = startWatch(service)
    const flood = await run({ port, connections, phases })
    const watched = await watch.end()

    progress('every event has reached every socket')
    const last = await lastEvents(sql, crowd.boards)
    const events = last.slice(0, size.watched).reduce((sum, seq) => sum + seq, 0) * size.watchers
    const counts = await viewers
      .until('every event has come', (now) => now.events >= events, 20_000)
      .catch(() => viewers.count())
    const acknowledged = seen.flatMap((outcome) => outcome.acknowledged)

    progress('the same without the door')
    const open = await startBare({ ...stores, MAX_REQUESTS_AT_ONCE: '1000000' })
    const open_port = Number(new URL(open.base_url).port)
    await bystanders.run({ port: open_port, connections: 16, ms: 1_000 })
    const without = [{ rate, ms: size.without_seconds * 1_000 }]
    const unguarded = await bystanders.run({ port: open_port, connections, phases: without })
    progress('what a refusal costs')
    await using closed = await startClosed(sql, stores)
    const shed_port = Number(new URL(closed.service.base_url).port)
    const shed_phases = [{ rate, ms: size.shed_seconds * 1_000 }]
    await bystanders.run({ port: shed_port, connections, phases: shed_phases })
    const sheds = await withCpu({ service: closed.service.pid }, () =>
      bystanders.run({ port: shed_port, connections, phases: shed_phases }),
    )
    return {
      alone,
      shed_us: (sheds.cpu.service * 1_000) / sheds.result.shed,
      pairs,
      flood,
      watched,
      unguarded,
      sockets: { expected: crowd.sockets.length, events, counts },
      acknowledged: acknowledged.length,
      lost: lostWrites(acknowledged, last),
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

/** An instance with one place, which is taken all the time: whoever has it waits for a lock. */
async function startClosed(sql: pg.Pool, stores: Record<string, string>) {
  const service = await startBare({ ...stores, MAX_REQUESTS_AT_ONCE: '1' })
  const holder = await sql.connect()
  await holder.query('begin')
  await holder.query('lock table users in access exclusive mode')
  return {
    service,
    [Symbol.asyncDispose]: async () => {
      await holder.query('rollback')
      holder.release()
    },
  }
}

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
