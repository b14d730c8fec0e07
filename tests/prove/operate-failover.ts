import { setTimeout as pause } from 'node:timers/promises'
import { Client } from '@lockstep/testing/client'
import { startFaultyConnection } from '@lockstep/testing/client/faulty-connection'
import { runLive } from '@lockstep/testing/client/live-run'
import { endProcesses, type ServiceProcess, startRedis, startServiceProcess } from '@lockstep/testing/processes'
import { startProxy, type TcpProxy } from '@lockstep/testing/tcp-proxy'
import { type Cluster, databaseOn, freeze, kill, type Server, startCluster, thaw } from '../recovery/cluster.ts'
import { loseCommits } from '../recovery/lost-commits.ts'
import { failOverByPatroni, type PatroniFailover, type PatroniSize, TTL_MS } from '../recovery/patroni-failover.ts'
import { checkKept, checkLogs, createCard, newBoard, newUser, startWriters } from '../recovery/writers.ts'
import { atMost, collectFigures, equals, info, isTrue, type Progress, type Report } from './report.ts'

const JWT_SECRET = 'hush-hush-signing-secret-of-the-failover-tests'
const LATE_MS = 3_000
/** Promotions of an asynchronous standby. */
const ROUNDS = 5

export interface Size {
  /** The number of killed primaries, and of primaries that are frozen and resume after they were replaced. */
  kills: number
  freezes: number
  writers: number
  /** Of each of two live clients, in each failover. */
  changes: number
}
export interface Failover {
  kind: 'killed' | 'frozen'
  violations: string[]
  acknowledged: number
  refusals: number
  /** Time from the failure of the primary to the next acknowledged write, without the detection of the failure. */
  recoveryMs: number
  /** Writes that a frozen primary acknowledged after it resumed. There must be none. */
  split: number
}

/** Fails over repeatedly under load: writers with idempotency keys, and live clients with random changes. */
export async function failOverSynchronously(size: Size, progress: Progress): Promise<Failover[]> {
  const { kills, freezes } = size
  const kinds = Array.from({ length: kills + freezes }, (_, i) => (i < kills ? 'killed' : 'frozen'))
  let hung: Server | undefined
  try {
    const [cluster, redis] = await Promise.all([startCluster(), startRedis()])
    // The address of the primary, which moves like a virtual IP address.
    const address = await startProxy(databaseOn(cluster.primary()))
    const settings = { DATABASE_URL: address.url, REDIS_URL: redis.url, JWT_SECRET, LOG_LEVEL: 'warn' }
    const service = await startServiceProcess(settings)
    const outcomes: Failover[] = []
    for (const [i, kind] of kinds.entries()) {
      hung = kind === 'frozen' ? cluster.primary() : undefined
      const outcome = await failOverOnce({ cluster, address, service, size, seed: i + 1 }, kind)
      outcomes.push(outcome)
      const { acknowledged, recoveryMs, violations } = outcome
      progress(
        `failover ${i + 1} of ${kinds.length}, primary ${kind}: ${acknowledged} acknowledged, writes again after ${recoveryMs} ms, ${violations.length} violations`,
      )
    }
    await address.close()
    return outcomes
  } finally {
    // A frozen process would not end.
    if (hung?.process().hasEnded() === false) kill(hung)
    await endProcesses()
  }
}

interface FailoverEnvironment {
  cluster: Cluster
  address: TcpProxy
  service: ServiceProcess
  size: Size
  seed: number
}

async function failOverOnce(stage: FailoverEnvironment, kind: Failover['kind']): Promise<Failover> {
  const { cluster, address, service, size, seed } = stage
  const { baseUrl } = service
  const [owner, member] = [await newUser(baseUrl), await newUser(baseUrl)]
  const places = await Promise.all(Array.from({ length: 4 }, () => newBoard(owner.api)))
  const shown = await newBoard(owner.api)
  const params = { board_id: shown.board_id, user_id: member.id }
  await owner.api.call('inviteMember', { params, body: { user_id: member.id } })
  await owner.api.call('updateMember', { params, body: { role: 'owner' } })
  // An instance with the old address, which still reaches the old primary.
  const old = { DATABASE_URL: databaseOn(cluster.primary()), REDIS_URL: '', JWT_SECRET, LOG_LEVEL: 'warn' }
  const astray = kind === 'frozen' ? await startServiceProcess(old) : undefined
  const line = await startFaultyConnection(baseUrl)
  const writers = startWriters(owner.api, places, size.writers)
  let [goneAt, movedAt, split] = [0, 0, 0]

  const faults = async () => {
    await writers.more(3 * size.writers)
    goneAt = performance.now()
    if (kind === 'killed') kill(cluster.primary())
    else freeze(cluster.primary())
    const gone = await cluster.failOver()
    movedAt = performance.now()
    address.leadTo(databaseOn(cluster.primary()))
    await writers.more(3 * size.writers)
    if (astray) {
      thaw(gone)
      split = await writeAstray(new Client(astray.baseUrl, owner.token), shown)
      kill(gone)
      await astray.end('SIGKILL')
    }
    await cluster.replace(gone)
  }
  const { changes } = size
  const users = [owner, member]
  const { board_id } = shown
  const live = await runLive({
    ...{ baseUrl: () => baseUrl, connection: line, board_id, users, seed, changes, pauseMs: 40, faults },
  })
  await writers.stop()
  await line.close()
  const url = databaseOn(cluster.primary())
  const acknowledged = writers.acknowledged()
  const violations = [
    ...live.violations,
    ...(await checkKept(url, acknowledged)),
    ...(await checkLogs(url)),
    ...writers.strange.map((response) => `a write was answered ${response}`),
    ...(split > 0 ? [`the old primary acknowledged ${split} writes after it was replaced`] : []),
  ]
  return {
    ...{ kind, violations, split, acknowledged: acknowledged.length, refusals: writers.refusals() },
    recoveryMs: Math.round(writers.firstAfter(movedAt, goneAt)),
  }
}

/** Writes to a replaced primary. Returns the number of acknowledged writes. */
async function writeAstray(api: Client, place: { board_id: string; column_id: string }): Promise<number> {
  let acknowledged = 0
  for (let i = 0; i < 3; i++) {
    void createCard(api, place, `astray ${i}`).then(
      ({ status }) => status === 201 && acknowledged++,
      () => {},
    )
  }
  await pause(LATE_MS)
  return acknowledged
}

export async function prove(progress: Progress): Promise<Report> {
  const size = { kills: 10, freezes: 5, writers: 16, changes: 30 }
  const { figures, violations, add, fail } = collectFigures(progress)
  const outcomes = await failOverSynchronously(size, progress)
  for (const violation of outcomes.flatMap((outcome) => outcome.violations)) fail(violation)
  for (const kind of ['killed', 'frozen'] as const) {
    const those = outcomes.filter((outcome) => outcome.kind === kind)
    const times = those.map((each) => each.recoveryMs).toSorted((a, b) => a - b)
    const sum = (of: (each: Failover) => number) => those.reduce((all, each) => all + of(each), 0)
    add(
      equals(`failovers, primary ${kind}`, those.length, kind === 'killed' ? size.kills : size.freezes),
      info(
        'writes acknowledged',
        sum((each) => each.acknowledged),
      ),
      equals(
        'acknowledged writes lost or duplicated, and other violations',
        sum((each) => each.violations.length),
        0,
      ),
      info(
        'writes rejected with 503 and repeated',
        sum((each) => each.refusals),
      ),
      info('recovery, median', times[Math.floor(times.length / 2)] ?? 0, 'ms'),
      info('recovery, longest', times.at(-1) ?? 0, 'ms'),
    )
  }
  const split = outcomes.reduce((all, each) => all + each.split, 0)
  add(equals('writes acknowledged by a frozen primary after it was replaced', split, 0))

  add(...(await proveUnattended({ kills: 10, writers: 16, sockets: 20 }, progress, fail)))
  add(...(await proveUnattended({ kills: 2, writers: 16, sockets: 20, isPooled: true }, progress, fail)))

  const rounds: Awaited<ReturnType<typeof loseCommits>>[] = []
  while (rounds.length < ROUNDS) {
    rounds.push(await loseCommits({ writes: 30 }))
    progress(`asynchronous standby, ${rounds.length} of ${ROUNDS}`)
  }
  const every = (holds: (round: (typeof rounds)[number]) => boolean) => rounds.every(holds)
  add(
    info('promotions of an asynchronous standby', ROUNDS),
    info(
      'acknowledged writes that it never received',
      rounds.reduce((sum, { unreplicated }) => sum + unreplicated, 0),
    ),
    isTrue(
      'the checker finds exactly these writes',
      every(({ missing, unreplicated }) => missing === unreplicated),
    ),
    isTrue(
      'before `new-epoch` clients show lost changes',
      every(({ isStaleBefore }) => isStaleBefore),
    ),
    isTrue(
      'the service logs that commits were lost, and what to do',
      every(({ isReported }) => isReported),
    ),
    isTrue(
      'after it every client shows the board of the server',
      every(({ isRepairedAfter }) => isRepairedAfter),
    ),
    isTrue(
      'no cached state of the lost time is served',
      every(({ isCacheInvalidated }) => isCacheInvalidated),
    ),
    isTrue(
      'a lost write that is repeated with its key is applied once',
      every(({ isRetryApplied }) => isRetryApplied),
    ),
    info('from the command to the last client, longest', Math.max(...rounds.map(({ resyncMs }) => resyncMs)), 'ms'),
  )
  return { figures, violations }
}

/** Failovers by Patroni, without anybody who reacts. */
async function proveUnattended(size: PatroniSize, progress: Progress, fail: (sentence: string) => void) {
  const outcomes = await failOverByPatroni(size, progress)
  for (const violation of outcomes.flatMap((outcome) => outcome.violations)) fail(violation)
  const times = outcomes.map((each) => each.recoveryMs).toSorted((a, b) => a - b)
  const sum = (of: (each: PatroniFailover) => number) => outcomes.reduce((all, each) => all + of(each), 0)
  const how = size.isPooled ? 'with Patroni, behind pgbouncer' : 'with Patroni'
  return [
    equals(`${how}: primaries killed together with their Patroni`, outcomes.length, size.kills),
    info(
      'writes acknowledged',
      sum((each) => each.acknowledged),
    ),
    info(
      `events received by ${size.sockets} sockets`,
      sum((each) => each.events),
    ),
    equals(
      'acknowledged writes lost or duplicated, gaps, resyncs and closes of sockets, and other violations',
      sum((each) => each.violations.length),
      0,
    ),
    info(
      'writes rejected with 503 and repeated',
      sum((each) => each.refusals),
    ),
    info('from the kill to the next acknowledged write, median', times[Math.floor(times.length / 2)] ?? 0, 'ms'),
    atMost('the same, longest', times.at(-1) ?? Number.NaN, TTL_MS + 5_000, 'ms'),
  ]
}
