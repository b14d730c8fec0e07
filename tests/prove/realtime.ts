import { endProcesses } from '../../packages/server/testing/processes.ts'
import { delaysOf } from '../rig/check-delivery.ts'
import { checkers } from '../rig/checkers.ts'
import { quantile, seeded } from '../rig/history.ts'
import { measureLatency } from '../rig/latency.ts'
import { timeline } from '../rig/picture.ts'
import { crashPresence, drainWithoutFlapping } from '../rig/presence-scenarios.ts'
import { type RedisSide, startCluster, startStandalone } from '../rig/redis-sides.ts'
import { type Outcome, runSeed, type Size } from '../rig/run.ts'
import { loseMessages, stopRedis } from '../rig/scenarios.ts'
import { buildWorld, type World } from '../rig/world.ts'
import type { Progress, Report, Section } from './report.ts'

const SEEDS = { standalone: [1, 2, 3], cluster: [11, 12, 13] }
const BOARDS = 8
const SIZE: Size = {
  seconds: 60,
  rate: 100,
  numbered: 48,
  plain: 16,
  slow: 8,
  durations: { freeze: 5_000, redis: 4_000, lose: 5_000, gap: 1_500 },
}

/** Three instances, and everything that can fail: no promise of real time is broken. */
export async function prove(progress: Progress): Promise<Report> {
  const violations: string[] = []
  const sections: Section[] = []
  const rows: (string | number)[][] = []
  const pictures: Section['pictures'] = []
  const inWorld = async (redis: RedisSide, work: (world: World) => Promise<void>) => {
    const world = await buildWorld(redis, BOARDS)
    try {
      await work(world)
    } finally {
      await world.close()
    }
  }
  const runSeeds = async (world: World, way: keyof typeof SEEDS) => {
    for (const seed of SEEDS[way]) {
      const outcome = await runSeed(world, seed, SIZE, (line) => progress(`${way}, seed ${seed}: ${line}`))
      violations.push(...outcome.violations.map((sentence) => `${way}, seed ${seed}: ${sentence}`))
      const { row, svg } = summary(way, outcome)
      rows.push(row)
      pictures.push({ name: `${way}-${seed}`, svg, caption: `Seed ${seed}, ${way}` })
      progress(`${way}, seed ${seed}: ${outcome.violations.length} violations`)
      for (const sentence of outcome.violations.slice(0, 10)) progress(`  ${sentence}`)
    }
  }
  try {
    const standalone = await startStandalone(seeded(1))
    await inWorld(standalone, async (world) => {
      await runSeeds(world, 'standalone')
      const found = await runScenarios(world, standalone.direct_url, progress)
      violations.push(...found.violations)
      sections.push(...found.sections)
    })
    await inWorld(await startCluster(seeded(11)), (world) => runSeeds(world, 'cluster'))
  } finally {
    await endProcesses()
  }
  const columns = ['Redis', 'seed', 'faults', 'writes', 'not acknowledged', 'connections', 'events delivered']
  const more = ['delay p50 ms', 'p99 ms', 'worst ms', 'memory MiB', 'rig held up ms', 'violations']
  sections.unshift(
    {
      heading: 'Everything fails in turn',
      text: `Each seed decides which fault comes when. Delays are from the commit, by the database's own record, to each reader; without the time in which its instance was frozen, PostgreSQL was away, or the machine gave the instance or the rig no time to run.`,
      table: { columns: [...columns, ...more], rows },
      pictures,
    },
    {
      heading: 'What is checked',
      table: { columns: ['', 'promise'], rows: Object.entries(checkers).map(([id, { promise }]) => [id, promise]) },
    },
  )
  const { durations: _, ...size } = SIZE
  const setting = {
    seeds: `${SEEDS.standalone.join(', ')}; cluster: ${SEEDS.cluster.join(', ')}`,
    instances: 3,
    boards: BOARDS,
    ...size,
  }
  return { title: 'Real time under faults', setting, sections, violations }
}

function summary(way: string, { history, dump, violations }: Outcome) {
  const delays = delaysOf(history, dump).map((delay) => delay.ms)
  const delivered = history.connections.reduce((sum, { receipts }) => sum + receipts.length, 0)
  const held_up = history.stalls
    .filter((s) => s.instance === undefined)
    .reduce((sum, { from, to }) => sum + to - from, 0)
  const row = [
    way,
    history.seed,
    history.faults.length,
    history.writes.length,
    history.writes.filter((write) => write.outcome !== 'ok').length,
    history.connections.length,
    delivered,
    tenth(quantile(delays, 0.5)),
    tenth(quantile(delays, 0.99)),
    tenth(quantile(delays, 1)),
    Math.round(
      quantile(
        history.samples.map((sample) => sample.rss_mib),
        1,
      ),
    ),
    Math.round(held_up),
    violations.length,
  ]
  return { row, svg: timeline(history, dump, `Three instances, ${way} Redis, seed ${history.seed}`) }
}

/** Single faults with figures of their own. */
async function runScenarios(world: World, direct_url: string, progress: Progress) {
  const violations: string[] = []
  const sections: Section[] = []
  const note = (what: string, found: string[]) => {
    progress(`${what}: ${found.length} violations`)
    for (const sentence of found.slice(0, 10)) progress(`  ${sentence}`)
    violations.push(...found.map((sentence) => `${what}: ${sentence}`))
  }
  const killed = await stopRedis(world, 'kill', { seed: 21, rate: 100, rounds: 1, round_ms: 60_000 })
  note('Redis killed for a minute', killed.violations)
  const frozen = await stopRedis(world, 'freeze', { seed: 22, rate: 100, rounds: 10, round_ms: 1_500 })
  note('Redis frozen', frozen.violations)
  const lossy = await loseMessages(world, { seed: 23, rate: 100, ms: 20_000, share: 0.1 })
  note('a tenth of the messages lost', lossy.violations)
  const figures = [killed, frozen, lossy].map((f) => [
    f.writes,
    f.failed,
    f.events,
    tenth(f.p50_ms),
    tenth(f.p99_ms),
    tenth(f.worst_ms),
  ])
  sections.push({
    heading: 'Without Redis, and with one that loses messages',
    text: `Allowed: 1000 ms without Redis, 2500 ms for a lost message, no failed write, nothing twice. In turns with times in which Redis is well, the median of a write was ${tenth(frozen.well_ms)} ms then and ${tenth(frozen.away_ms)} ms with Redis frozen: pair by pair, ${frozen.ratio.toFixed(2)} times as long (allowed: 1.2).`,
    table: {
      columns: ['fault', 'writes', 'failed', 'deliveries', 'p50 ms', 'p99 ms', 'worst ms'],
      rows: ['Redis killed for 60 s', 'Redis frozen, 10 times 1.5 s', `10 % lost (${lossy.lost} messages)`].map(
        (name, i) => [name, ...(figures[i] ?? [])],
      ),
    },
  })
  const latency = await measureLatency(world, direct_url, { seed: 24, rate: 200, ms: 20_000 })
  note('latency', latency.violations)
  sections.push({
    heading: 'From the commit to a client of another instance',
    text: `At ${latency.rate} writes a second on one instance. The last line is the whole way, of which the second and the third are the parts.`,
    table: {
      columns: ['way', 'p50 ms', 'p99 ms', 'share of the whole'],
      rows: latency.hops.map(({ hop, p50_ms, p99_ms, share }) => [
        hop,
        hundredth(p50_ms),
        hundredth(p99_ms),
        `${Math.round(share * 100)} %`,
      ]),
    },
  })
  const drained = await drainWithoutFlapping(world, { seed: 25, watch_ms: 12_000 })
  note('a drain', drained.violations)
  const crashed = await crashPresence(world, { seed: 26 })
  note('a crash', crashed.violations)
  sections.push({
    heading: 'Presence',
    text: `After kill -9 of an instance its users were said to have left after ${Math.round(crashed.left_after_ms / 100) / 10} s (allowed: 65). Of ${drained.users} users of a drained instance nobody was said to have left, in ${drained.watched_ms / 1_000} s.`,
  })
  return { violations, sections }
}

const tenth = (value: number) => Math.round(value * 10) / 10
const hundredth = (value: number) => Math.round(value * 100) / 100
