import { endProcesses } from '@lockstep/testing/processes'
import { seeded } from '@lockstep/testing/random'
import { percentile } from '@lockstep/testing/statistics'
import { delaysOf } from '../fault-harness/check-delivery.ts'
import { type FaultEnvironment, startFaultEnvironment } from '../fault-harness/environment.ts'
import { measureLatency } from '../fault-harness/latency.ts'
import { crashPresence, drainWithoutFlapping } from '../fault-harness/presence-scenarios.ts'
import { type RedisSetup, startCluster, startStandalone } from '../fault-harness/redis.ts'
import { removeUnderKills } from '../fault-harness/removals-under-kills.ts'
import { type Outcome, runSeed, type Size } from '../fault-harness/run.ts'
import { loseMessages, stopRedis } from '../fault-harness/scenarios.ts'
import { timeline } from '../fault-harness/timeline.ts'
import { atMost, collectFigures, equals, info, type Progress, type Report } from './report.ts'

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

/** Three instances under every fault: real-time delivery keeps its guarantees. */
export async function prove(progress: Progress): Promise<Report> {
  const collected = collectFigures(progress)
  const outcomes: Outcome[] = []
  const withEnvironment = async (redis: RedisSetup, work: (environment: FaultEnvironment) => Promise<void>) => {
    const environment = await startFaultEnvironment(redis, BOARDS)
    try {
      await work(environment)
    } finally {
      await environment.close()
    }
  }
  const runSeeds = async (environment: FaultEnvironment, way: keyof typeof SEEDS) => {
    for (const seed of SEEDS[way]) {
      const outcome = await runSeed(environment, seed, SIZE, (line) => progress(`${way}, seed ${seed}: ${line}`))
      outcomes.push(outcome)
      progress(`${way}, seed ${seed}: ${outcome.violations.length} violations`)
      for (const sentence of outcome.violations) collected.fail(`${way}, seed ${seed}: ${sentence}`)
    }
  }
  let picture: Report['picture']
  try {
    const standalone = await startStandalone(seeded(1))
    await withEnvironment(standalone, async (environment) => {
      await runSeeds(environment, 'standalone')
      picture = pictureOf(outcomes[0] as Outcome)
      await runScenarios(environment, standalone.directUrl, collected, progress)
    })
    await withEnvironment(await startCluster(seeded(11)), (environment) => runSeeds(environment, 'cluster'))
  } finally {
    await endProcesses()
  }
  const { figures, violations } = collected
  return { figures: [...summary(outcomes), ...figures], violations, ...(picture && { picture }) }
}

const pictureOf = ({ history, dump }: Outcome) => ({
  caption: 'Faults, writes, deliveries and delay over a minute',
  svg: timeline(history, dump, `Three instances, one Redis, seed ${history.seed}`),
})

/** All seeds together. */
function summary(outcomes: Outcome[]) {
  const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + of(outcome), 0)
  const delays = outcomes.map(({ history, dump }) => delaysOf(history, dump).map(({ ms }) => ms))
  const worst = (p: number) => Math.max(...delays.map((each) => percentile(each, p)))
  const memory = outcomes.flatMap(({ history }) => history.samples.map(({ rss_mib }) => rss_mib))
  return [
    info('runs of a minute, three of them on Redis Cluster', outcomes.length),
    info(
      'faults',
      sum(({ history }) => history.faults.length),
    ),
    info(
      'writes',
      sum(({ history }) => history.writes.length),
    ),
    info(
      'writes that were not acknowledged',
      sum(({ history }) => history.writes.filter(({ outcome }) => outcome !== 'ok').length),
    ),
    info(
      'connections',
      sum(({ history }) => history.connections.length),
    ),
    info(
      'events delivered',
      sum(({ history }) => history.connections.reduce((all, { receipts }) => all + receipts.length, 0)),
    ),
    equals(
      'broken guarantees',
      sum(({ violations }) => violations.length),
      0,
    ),
    info('delay of an event, p50 of the slowest run', worst(50), 'ms'),
    info('delay of an event, p99 of the slowest run', worst(99), 'ms'),
    info('delay of an event, longest', worst(100), 'ms'),
    info('resident memory of an instance, most', percentile(memory, 100), 'MiB'),
  ]
}

type Collected = ReturnType<typeof collectFigures>

/** Single faults with their own figures. */
async function runScenarios(
  environment: FaultEnvironment,
  directUrl: string,
  { add, fail }: Collected,
  progress: Progress,
) {
  const note = (what: string, found: string[]) => {
    progress(`${what}: ${found.length} violations`)
    for (const sentence of found) fail(`${what}: ${sentence}`)
  }
  const killed = await stopRedis(environment, 'kill', { seed: 21, rate: 100, rounds: 1, roundMs: 60_000 })
  note('Redis killed for a minute', killed.violations)
  const frozen = await stopRedis(environment, 'freeze', { seed: 22, rate: 100, rounds: 10, roundMs: 1_500 })
  note('Redis frozen', frozen.violations)
  const lossy = await loseMessages(environment, { seed: 23, rate: 100, ms: 20_000, share: 0.1 })
  note('a tenth of the messages lost', lossy.violations)
  add(
    equals('failed writes without Redis or with lost messages', killed.failed + frozen.failed + lossy.failed, 0),
    atMost('longest delay, Redis killed for 60 s', killed.worstMs, 1_000, 'ms'),
    atMost('longest delay, Redis frozen 10 times for 1.5 s', frozen.worstMs, 1_000, 'ms'),
    atMost(`longest delay, ${lossy.lost} messages (10 %) lost`, lossy.worstMs, 2_500, 'ms'),
    atMost('duration of a write with Redis frozen, relative to before', frozen.ratio * 100, 120, '%'),
  )
  const latency = await measureLatency(environment, directUrl, { seed: 24, rate: 200, ms: 20_000 })
  note('latency', latency.violations)
  const [here, , , there] = latency.hops
  for (const { hop, p50Ms, p99Ms } of [here, there].filter((each) => each !== undefined))
    add(info(`${hop}, p50`, p50Ms, 'ms'), info(`${hop}, p99`, p99Ms, 'ms'))
  const removals = await removeUnderKills(environment, { seed: 27, boardCount: 3, operations: 500, kills: 40 })
  note('instances killed during removals', removals.violations)
  add(
    info('cards and columns archived, deleted, restored or purged while instances are killed', removals.operations),
    info('instances killed meanwhile', removals.kills),
    info('of these operations, responses that were lost', removals.cutOff),
    equals('cards, columns, comments or files that were lost or changed', removals.violations.length, 0),
  )
  const drained = await drainWithoutFlapping(environment, { seed: 25, watchMs: 12_000 })
  note('a drain', drained.violations)
  const crashed = await crashPresence(environment, { seed: 26 })
  note('a crash', crashed.violations)
  add(atMost('users of a killed instance are shown as gone after', crashed.leftAfterMs / 1_000, 65, 's'))
}
