import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { hash } from '@node-rs/argon2'
import pg from 'pg'
import {
  endProcesses,
  type ServiceProcess,
  startPostgres,
  startRedis,
  startServiceProcess,
} from '../packages/server/testing/processes.ts'
import { unpackVersion } from '../tests/prove/older-version.ts'
import { Load, type Sending } from './load.ts'
import { demand, type Progress, rounded, threadsCpuOf } from './measure.ts'
import { type OperationKey, operations } from './operations.ts'
import * as ownSeed from './seed.ts'
import type { Size } from './size.ts'
import { PASSWORD, POOL, settingsOf } from './stage.ts'

const versions = ['before', 'after'] as const
type Version = (typeof versions)[number]

/** A wider interval cannot detect a change of 3 %. */
const MOST_WIDTH = 0.02
const MOST_RATIO = 1.03
const BOARD_CARDS = 200
const BOARDS_READ = 8
const CONNECTIONS = 8

type Measure = 'Node' | 'PostgreSQL' | 'both'
/** What an operation costs after the change, as a multiple of what it cost before. */
export interface Ratio {
  ratio: number
  /** The 95 % interval. */
  low: number
  high: number
}
export type Verdict = 'met' | 'missed' | 'noisy'
export interface Compared extends Ratio {
  operation: string
  measure: Measure
  rounds: number
  /** CPU milliseconds per operation. */
  ms: Record<Version, number>
  verdict: Verdict
}
export interface VersusSize extends Pick<Size, 'postgres' | 'window_ms' | 'boards'> {
  /** Requests of each operation that a version answers before it is measured. */
  warm_up_requests: number
  least_rounds: number
  most_rounds: number
}
/** The main module of a version, and how its tables are filled. */
export interface Subject {
  main?: string
  seed?: typeof ownSeed
}
interface Cost {
  node: number
  postgres: number
  count: number
}

/** The working tree beside a commit, each with its own dependencies, its own tables and its own way to fill them. */
export async function compareWith(commit: string, size: VersusSize, progress: Progress): Promise<Compared[]> {
  progress(`the version of ${commit}, with its dependencies`)
  using old = unpackVersion(commit, ['bench'])
  const seed = (await import(pathToFileURL(join(old.folder, 'bench/seed.ts')).href)) as typeof ownSeed
  return await compare({ before: { main: old.main, seed }, after: {} }, size, progress)
}

export async function compare(
  subjects: Record<Version, Subject>,
  size: VersusSize,
  progress: Progress,
): Promise<Compared[]> {
  try {
    const [postgres, redis] = await Promise.all([startPostgres({ settings: settingsOf(size.postgres) }), startRedis()])
    using load = new Load()
    const server = new pg.Client({ connectionString: postgres.url })
    // When something else fails, PostgreSQL is stopped with this connection open: that error would hide the first one.
    server.on('error', () => {})
    await server.connect()
    const url = (version: Version) => Object.assign(new URL(postgres.url), { pathname: `/${version}` }).href
    const start = (version: Version) => startVersion(subjects[version], url(version), redis.url)
    for (const version of versions) {
      progress(`${version}: tables, ${size.boards} boards`)
      const service = await start(version)
      const tokens = await fill(subjects[version].seed ?? ownSeed, url(version), size.boards, service.base_url)
      for (const [key, requests] of Object.entries(requestsOf(tokens, size.boards)))
        await load.prepare(`${key} ${version}`, requests)
      await service.end()
    }
    const rounds: Record<Compare, Record<Version, Cost>[]> = { create: [], move: [], board: [] }
    for (let round = 1; ; round++) {
      await oneRound(rounds, round % 2 === 0 ? versions.toReversed() : [...versions], { load, server, start, size })
      const so_far = keys.flatMap((key) => judge(nameOf(key), rounds[key], size))
      const isSharp = so_far.every((each) => each.verdict !== 'noisy')
      const isLast = round >= size.most_rounds || (round >= size.least_rounds && isSharp)
      if (isLast || round % 5 === 0) for (const each of so_far) progress(`  ${sentenceOf(each)}`)
      if (!isLast) continue
      await server.end()
      return so_far
    }
  } finally {
    await endProcesses()
  }
}

interface Bench {
  load: Load
  server: pg.Client
  start: (version: Version) => Promise<ServiceProcess>
  size: VersusSize
}

/**
 * Both versions are restarted for each round: how a process compiles its code and lays out its memory differs from one start to the next by
 * more than what is to be measured. Each operation is done A B B A: what changes steadily meanwhile weighs on both alike.
 */
async function oneRound(
  rounds: Record<Compare, Record<Version, Cost>[]>,
  [a, b]: Version[],
  { load, server, start, size }: Bench,
) {
  demand(a !== undefined && b !== undefined, 'a round is of two versions')
  const running = { [a]: await start(a), [b]: await start(b) } as Record<Version, ServiceProcess>
  const send = (key: Compare, version: Version) =>
    load.run(
      `${key} ${version}`,
      running[version].base_url,
      { connections: CONNECTIONS, ms: size.window_ms },
      statusOf(key),
    )
  const once = async (key: Compare, version: Version, attempts = 5): Promise<Cost> => {
    const pids = await backendsOf(server, version)
    const cpu = () => ({ node: threadsCpuOf(running[version].pid), postgres: sum(pids.map(threadsCpuOf)) })
    const before = cpu()
    const { sent } = await send(key, version)
    // Of a connection that came or went, a part of the time would be missing.
    if (String(await backendsOf(server, version)) !== String(pids)) {
      demand(attempts > 1, `the connections of ${version} to PostgreSQL come and go`)
      return once(key, version, attempts - 1)
    }
    const after = cpu()
    return { node: after.node - before.node, postgres: after.postgres - before.postgres, count: sent }
  }
  for (const key of keys) {
    // Compiled code, plans and connections: what the first requests pay for all others.
    for (const version of [a, b])
      for (let sent = 0; sent < size.warm_up_requests; ) sent += (await send(key, version)).sent
    const costs: Record<Version, Cost[]> = { before: [], after: [] }
    for (const version of [a, b, b, a]) costs[version].push(await once(key, version))
    rounds[key].push({ before: total(costs.before), after: total(costs.after) })
  }
  await Promise.all([running[a].end(), running[b].end()])
}

/** A version creates and migrates its own database. */
const startVersion = ({ main }: Subject, url: string, redis_url: string) =>
  startServiceProcess(
    {
      DATABASE_URL: url,
      REDIS_URL: redis_url,
      DATABASE_POOL_SIZE: String(POOL),
      LOG_LEVEL: 'warn',
      JWT_SECRET: 'hush-hush-signing-secret-of-the-comparison',
      TOKEN_LIFETIME_SECONDS: '7200',
      DRAIN_SECONDS: '0',
      // Off in development. Their cost belongs to the comparison; a version that does not know them ignores them.
      QUOTAS: 'on',
      FAIR_SHARES: 'on',
    },
    main,
  )

/** Fills the tables, and logs in: what is in a token is the version's own affair. */
async function fill(seed: typeof ownSeed, url: string, boards: number, base_url: string): Promise<string[]> {
  const sql = new pg.Pool({ connectionString: url, max: 2 })
  const hashed = await hash(PASSWORD, { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  await seed.seedUsers(sql, 1, seed.USERS, hashed)
  await seed.seedBoards(sql, { from: 1, to: boards })
  await seed.seedBoards(sql, { from: boards + 1, to: boards + BOARDS_READ, cards: BOARD_CARDS })
  await sql.query('vacuum analyze')
  await sql.end()
  const tokens = ['']
  for (let user = 1; user <= seed.USERS; user++) {
    const body = new URLSearchParams({ username: `user${user}@example.com`, password: PASSWORD })
    const response = await fetch(`${base_url}/auth/login`, { method: 'POST', body })
    demand(response.ok, `a login was answered ${response.status}`)
    tokens.push(((await response.json()) as { access_token: string }).access_token)
  }
  return tokens
}

type Compare = Extract<OperationKey, 'create' | 'move'> | 'board'
const keys: Compare[] = ['create', 'move', 'board']
const nameOf = (key: Compare) => (key === 'board' ? 'unchanged full board' : operations[key].name)
const statusOf = (key: Compare) => (key === 'board' ? 200 : operations[key].status)

function requestsOf(tokens: string[], boards: number): Record<Compare, Sending[]> {
  const writes = (key: 'create' | 'move') =>
    Array.from({ length: Math.max(boards * 12, 1_000) }, (_, nth) => {
      const { user, sending } = operations[key].request(nth, boards)
      return { ...sending, token: tokens[user] as string }
    })
  const board = Array.from({ length: BOARDS_READ }, (_, nth) => ({
    method: 'GET',
    path: `/boards/${ownSeed.idOf('board', boards + 1 + nth)}`,
    token: tokens[1 + nth] as string,
    headers: 'Accept-Encoding: gzip\r\n',
  }))
  return { create: writes('create'), move: writes('move'), board }
}

/** The processes of PostgreSQL that serve a database, asked for by a connection to another one. */
async function backendsOf(server: pg.Client, database: string): Promise<number[]> {
  const { rows } = await server.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = $1 and backend_type = 'client backend' order by pid`,
    [database],
  )
  return rows.map(({ pid }) => pid)
}

const sum = (values: number[]) => values.reduce((all, value) => all + value, 0)
const total = (costs: Cost[]): Cost => ({
  node: sum(costs.map(({ node }) => node)),
  postgres: sum(costs.map(({ postgres }) => postgres)),
  count: sum(costs.map(({ count }) => count)),
})

const costOf: Record<Measure, (cost: Cost) => number> = {
  Node: ({ node, count }) => node / count,
  PostgreSQL: ({ postgres, count }) => postgres / count,
  both: ({ node, postgres, count }) => (node + postgres) / count,
}

/** What the rounds say of an operation. Too few rounds are noisy, whatever their interval. */
export function judge(
  operation: string,
  rounds: Record<Version, Cost>[],
  { least_rounds }: Pick<VersusSize, 'least_rounds'>,
): Compared[] {
  return (Object.keys(costOf) as Measure[]).map((measure) => {
    const of = (version: Version) => rounds.map((round) => costOf[measure](round[version]))
    const [before, after] = [of('before'), of('after')]
    const found = ratioOf(after.map((cost, i) => cost / (before[i] as number)))
    const isSharp = rounds.length >= least_rounds && isNarrow(found)
    const ms = { before: sum(before) / rounds.length, after: sum(after) / rounds.length }
    const verdict = isSharp ? (found.ratio <= MOST_RATIO ? 'met' : 'missed') : 'noisy'
    return { operation, measure, rounds: rounds.length, ms, ...found, verdict }
  })
}
const isNarrow = ({ ratio, low, high }: Ratio) => high / ratio - 1 <= MOST_WIDTH && 1 - low / ratio <= MOST_WIDTH

/**
 * The typical ratio of paired rounds with its 95 % interval, by Wilcoxon's signed ranks on logarithms: the median of the
 * means of all pairs (Hodges and Lehmann), which a few disturbed rounds do not move.
 */
export function ratioOf(ratios: number[]): Ratio {
  const logs = ratios.map(Math.log)
  const n = logs.length
  const means = logs.flatMap((a, i) => logs.slice(i).map((b) => (a + b) / 2)).sort((a, b) => a - b)
  const cut = Math.floor((n * (n + 1)) / 4 - 1.96 * Math.sqrt((n * (n + 1) * (2 * n + 1)) / 24))
  const at = (index: number) => Math.exp(means[Math.min(Math.max(index, 0), means.length - 1)] as number)
  const middle =
    ((means[Math.floor((means.length - 1) / 2)] as number) + (means[Math.floor(means.length / 2)] as number)) / 2
  return { ratio: Math.exp(middle), low: at(cut), high: at(means.length - 1 - Math.max(cut, 0)) }
}

const percent = (ratio: number) => `${ratio >= 1 ? '+' : '−'}${(Math.abs(ratio - 1) * 100).toFixed(1)} %`
/** One line of the result. */
export const sentenceOf = ({ operation, measure, ms, ratio, low, high, rounds, verdict }: Compared) =>
  `${operation}, CPU of ${measure}: ${rounded(ms.before)} → ${rounded(ms.after)} ms, ${percent(ratio)} (95 %: ${percent(low)} to ${percent(high)}, ${rounds} rounds): ${verdict}`
