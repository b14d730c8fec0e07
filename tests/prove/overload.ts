import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { withCpu, withFreeCores } from '../../bench/measure.ts'
import { FULL as BENCH } from '../../bench/size.ts'
import { freePort } from '../../packages/server/testing/ports.ts'
import { endProcesses, startPostgres, startRedis } from '../../packages/server/testing/processes.ts'
import { Asker } from './asking.ts'
import { atLeast, atMost, collectGoals, is, told, yes } from './goals.ts'
import { LoadClients, percentile } from './load-clients.ts'
import { IN_TIME_MS, lostWrites } from './overload-judge.ts'
import type { Moment, Outcome } from './overload-load.ts'
import { overTime } from './overload-picture.ts'
import { Askers, lastEvents, makeCrowd } from './overload-stage.ts'
import { openPool, startBare, startProbed } from './realtime-stage.ts'
import type { Progress, Report } from './report.ts'

const SECONDS = Number(process.env['SECONDS'] ?? 60)
const SIZE = {
  boards: 500,
  cards: 30,
  watched: 100,
  watchers: 2,
  times: 5,
  before_seconds: 5,
  seconds: SECONDS,
  after_seconds: 10,
  /** How many ask at once when it is measured how much the service can do. The best of them is the peak. */
  askers: [32, 64],
  peak_seconds: 5,
  /** Connections of those who ask in the flood, all open before it begins. */
  connections: 1_000,
  without_seconds: 10,
}
const RECOVERY_SECONDS = 5
const GOOD_SHARE = 0.9
const SINK = fileURLToPath(new URL('overload-sink.ts', import.meta.url))
const HEARTBEAT_SECONDS = 30

/** Five times as much is asked of the service as it can do, for a minute; then it is left in peace. */
export async function prove(progress: Progress): Promise<Report> {
  const goals = collectGoals(progress)
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
    const crowd = await makeCrowd(sql, SIZE)
    await Promise.all([askers.prepare(crowd.requests), bystanders.prepare(crowd.requests)])
    await viewers.open(service.base_url, crowd.sockets, 200)
    await viewers.until('all are there', ({ hellos }) => hellos === crowd.sockets.length)
    const port = Number(new URL(service.base_url).port)
    const pids = { service: service.pid, postgres: postgres.process().pid, askers: askers.pid }
    const seen: Outcome[] = []
    /** All that works here: this process with its children, and the backends of PostgreSQL. */
    const ours = [process.pid, pids.postgres]
    /** Everybody waits for his answer before he asks again: what is done in a second for so many, and what it took. */
    const measurePeak = async (connections: number, beside?: number): Promise<Peak> => {
      const ms = SIZE.peak_seconds * 1_000
      const others =
        beside && bystanders.run({ port: sink_port, connections: SIZE.connections, phases: [{ rate: beside, ms }] })
      const measured = await withFreeCores(ours, () => withCpu(pids, () => askers.run({ port, connections, ms })))
      await others
      const { result, cpu } = measured.result
      seen.push(result)
      const rate = result.good / SIZE.peak_seconds
      progress(
        `${connections} who wait for their answers: ${Math.round(rate)} a second, on ${measured.free.toFixed(2)} cores`,
      )
      return { rate, free: measured.free, service_us: (cpu.service * 1_000) / result.good }
    }
    const measurePeaks = async (beside?: number) => {
      const peaks: Peak[] = []
      for (const connections of SIZE.askers) peaks.push(await measurePeak(connections, beside))
      return peaks
    }

    progress('how much it can do')
    await askers.run({ port, connections: 16, ms: 3_000 })
    const alone = best(await measurePeaks())
    const before = await measurePeaks((SIZE.times - 1) * alone.rate)

    progress(`${SIZE.times} times as much, for ${SIZE.seconds} s`)
    const rest = { rate: alone.rate / 2 }
    const phases = [
      { ...rest, ms: SIZE.before_seconds * 1_000 },
      { rate: SIZE.times * alone.rate, ms: SIZE.seconds * 1_000 },
      { ...rest, ms: SIZE.after_seconds * 1_000 },
    ]
    const watch = startWatch(service)
    const poured = await withFreeCores(ours, () =>
      withCpu(pids, () => askers.run({ port, connections: SIZE.connections, phases })),
    )
    const { free } = poured
    const { result: flood, cpu } = poured.result
    const watched = await watch.end()
    seen.push(flood)
    const after_flood = await measurePeaks((SIZE.times - 1) * alone.rate)

    progress('every event has reached every socket')
    const last = await lastEvents(sql, crowd.boards)
    const expected = last.slice(0, SIZE.watched).reduce((sum, seq) => sum + seq, 0) * SIZE.watchers
    const counts = await viewers
      .until('every event has come', ({ events }) => events >= expected, 20_000)
      .catch(() => viewers.count())
    const lost = lostWrites(
      seen.flatMap(({ acknowledged }) => acknowledged),
      last,
    )

    progress('the same without the door')
    const open = await startBare({ ...stores, MAX_REQUESTS_AT_ONCE: '1000000' })
    const unguarded = await askersFor(open.base_url, crowd.requests, SIZE.times * alone.rate, SIZE.without_seconds)

    const from = SIZE.before_seconds
    const to = from + SIZE.seconds
    const during = flood.moments.slice(from, to)
    const after = flood.moments.slice(to)
    const sum = (moments: Moment[], what: 'offered' | 'good' | 'late' | 'shed') =>
      moments.reduce((all, moment) => all + moment[what], 0)
    const peak = best(before.map((one, i) => mean(one, after_flood[i] as Peak)))
    const goodput = sum(during, 'good') / SIZE.seconds
    const of_peak = goodput / free / (peak.rate / peak.free)
    const quiet_p99 = percentile(
      flood.moments
        .slice(0, from)
        .map(({ p99 }) => p99)
        .sort((a, b) => a - b),
      50,
    )
    const recovered = recoveredAfter(after)
    const accepted = flood.good + flood.late
    const shed_us = (cpu.service * 1_000 - accepted * alone.service_us) / flood.shed
    const wrong = seen.flatMap((outcome) => Object.entries(outcome.wrong)).map(([what, count]) => `${count} × ${what}`)
    for (const what of wrong) goals.fail(`answers that are neither right nor a right 503: ${what}`)
    for (const what of lost) goals.fail(what)
    const unguarded_share = unguarded.good / SIZE.without_seconds / peak.rate

    goals.add(
      'What is offered, and what is done',
      `Half of the requests read a full board of ${SIZE.cards} cards, the others move, change and create cards, on ${SIZE.boards} boards; ${crowd.sockets.length} sockets watch ${SIZE.watched} of them. The peak is what the service does for ${SIZE.askers.join(' or ')} who wait for their answers before they ask again, the better of the two. The machine has to carry those who ask, too: so the peak that counts is measured while others ask ${SIZE.times - 1} times as much of a process that does nothing but send them away, before the flood and after it, the mean of both. The machine does other things as well: what it left for this is told beside each figure, and the goal is for what was left. In the flood requests come at ${SIZE.times} times the peak, whether or not others were answered, on ${SIZE.connections} connections that are open already, as those of a proxy are. What counts is answered rightly within ${IN_TIME_MS} ms.`,
      [
        told('peak, with nobody else asking', alone.rate, '/s'),
        told('peak, beside others who ask as much elsewhere', peak.rate, '/s'),
        told('hundredths of a core that were free for that', peak.free * 100),
        told('offered in the flood', sum(during, 'offered') / SIZE.seconds, '/s'),
        told('sent away', sum(during, 'shed') / SIZE.seconds, '/s'),
        told('goodput: answered rightly, in time', goodput, '/s'),
        told('hundredths of a core that were free for that', free * 100),
        told('goodput, of the peak', percent(goodput / peak.rate), '%'),
        atLeast('goodput, of the peak, for each free core', percent(of_peak), percent(GOOD_SHARE), '%'),
        told('goodput, of the peak with nobody else asking', percent(goodput / alone.rate), '%'),
        told('answered rightly, but late', sum(during, 'late') / SIZE.seconds, '/s'),
        told('requests that could not be sent', flood.unsent),
        is('answers that are neither right nor a right 503', wrong.length, 0),
      ],
    )
    goals.add(
      'How long it takes',
      `For those who were let in, from the request to the end of the answer; health is asked ten times a second by a process of its own, on a new connection each time.`,
      [
        told('p99 before the flood', quiet_p99, 'ms'),
        told('p50 of those who were let in', flood.let_in.p50, 'ms'),
        atMost('p99 of those who were let in', flood.let_in.p99, IN_TIME_MS, 'ms'),
        told('p50 until somebody was sent away', flood.sent_away.p50, 'ms'),
        told('p99 until somebody was sent away', flood.sent_away.p99, 'ms'),
        atMost('slowest answer of /health', Math.max(...watched.health_ms), 1_000, 'ms'),
        is('answers of /health that were not 200', watched.unhealthy, 0),
        told('the event loop was held at most', Math.max(...watched.loop_ms), 'ms'),
      ],
      [
        {
          name: 'minute',
          caption:
            'Requests offered, answered and sent away, the time they took, health and event loop, second by second',
          svg: overTime(
            `${SIZE.times} times as much as can be done`,
            [
              {
                name: 'requests in a second',
                series: [
                  { name: 'offered', values: flood.moments.map(({ offered }) => offered) },
                  { name: 'answered', values: flood.moments.map(({ good }) => good) },
                  { name: 'sent away', values: flood.moments.map(({ shed }) => shed) },
                ],
              },
              {
                name: 'answered in time, in a second; the line is the peak',
                series: [{ name: '', values: flood.moments.map(({ good }) => good) }],
                bound: peak.rate,
              },
              {
                name: 'p99 of those who were let in, ms; the line is what counts as in time',
                series: [{ name: '', values: flood.moments.map(({ p99 }) => p99) }],
                bound: IN_TIME_MS,
              },
              { name: 'slowest answer of /health, ms', series: [{ name: '', values: watched.health_by_second }] },
              { name: 'longest wait of the event loop, ms', series: [{ name: '', values: watched.loop_ms }] },
            ],
            from,
            to,
          ),
        },
      ],
    )
    goals.add(
      'Afterwards',
      `Half of the peak is asked for, as before. Recovered: nobody is sent away or late, and p99 is at most a quarter of what counts as in time, from then on.`,
      [atMost('recovered after', recovered, RECOVERY_SECONDS, 's'), told('sent away afterwards', sum(after, 'shed'))],
    )
    goals.add(
      'Those who watch',
      `Sockets are pinged every ${HEARTBEAT_SECONDS} s and must answer within 10; each has the number of every event of its board.`,
      [
        is('sockets that are still open', counts.open, crowd.sockets.length),
        atLeast('pings', counts.pings, crowd.sockets.length * Math.floor(SIZE.seconds / HEARTBEAT_SECONDS)),
        is('events that reached them', counts.events, expected),
        is('gaps', counts.gaps, 0),
        is('repetitions', counts.repeats, 0),
        told(
          'changes that were acknowledged',
          seen.reduce((all, { acknowledged }) => all + acknowledged.length, 0),
        ),
        is('acknowledged changes that are not in the log', lost.length, 0),
      ],
    )
    goals.add(
      'What it costs',
      `Processor time of the service: of a request that is answered, at the peak; of one that is sent away, what is left in the flood when those that were answered are taken off.`,
      [
        told('a request that is answered', alone.service_us, 'µs'),
        told('a request that is sent away', shed_us, 'µs'),
        atMost('the second, of the first', percent(shed_us / alone.service_us), 10, '%'),
        ...Object.entries(cpu).map(([who, ms]) =>
          told(`${who}, of a core, while it was measured`, ms / 10 / flood.moments.length, '%'),
        ),
      ],
    )
    goals.add(
      'Without the door',
      `The same flood for ${SIZE.without_seconds} s at an instance that lets everybody in (\`MAX_REQUESTS_AT_ONCE=1000000\`): what the figures above would be without it. It must fail, else they prove nothing.`,
      [
        told('goodput, of the peak', percent(unguarded_share), '%'),
        told('p99 of those who were let in', unguarded.let_in.p99, 'ms'),
        yes('it misses a goal', unguarded_share < GOOD_SHARE || unguarded.let_in.p99 > IN_TIME_MS),
      ],
    )
    return {
      title: 'Five times as much as can be done',
      setting: { ...SIZE, askers: SIZE.askers.join(', '), requests_at_once: 'the default' },
      sections: goals.sections,
      violations: goals.violations,
    }
  } finally {
    askers.end()
    bystanders.end()
    if (sink.connected) sink.disconnect()
    await viewers.end()
    await sql.end()
    await endProcesses()
  }
}

interface Peak {
  rate: number
  /** Cores that others left. */
  free: number
  service_us: number
}
const best = (peaks: Peak[]) => peaks.reduce((a, b) => (b.rate / b.free > a.rate / a.free ? b : a))
const mean = (a: Peak, b: Peak): Peak => ({
  rate: (a.rate + b.rate) / 2,
  free: (a.free + b.free) / 2,
  service_us: (a.service_us + b.service_us) / 2,
})

const percent = (share: number) => share * 100

async function askersFor(base_url: string, requests: Parameters<Askers['prepare']>[0], rate: number, seconds: number) {
  const askers = new Askers()
  try {
    await askers.prepare(requests)
    const port = Number(new URL(base_url).port)
    await askers.run({ port, connections: 16, ms: 1_000 })
    return await askers.run({ port, connections: SIZE.connections, phases: [{ rate, ms: seconds * 1_000 }] })
  } finally {
    askers.end()
  }
}

/** Looks at the service from outside and from inside, until it is told to end. */
function startWatch(service: Awaited<ReturnType<typeof startProbed>>) {
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

/** After how many seconds all is as it was, and stays so. */
function recoveredAfter(moments: Moment[]): number {
  const isWell = ({ shed, late, p99 }: Moment) => shed === 0 && late === 0 && p99 <= IN_TIME_MS / 4
  return moments.findLastIndex((moment) => !isWell(moment)) + 1
}
