import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startStores } from '@lockstep/testing/environment'
import { type LoadRequest, LoadWorker, UNIQUE_NUMBER } from '@lockstep/testing/load/http-load'
import { assertValid, type Progress, rounded } from '@lockstep/testing/load/measure'
import * as ownSeed from '@lockstep/testing/load/seed'
import { unpackVersion } from '@lockstep/testing/older-version'
import { type ServiceProcess, startServiceProcess } from '@lockstep/testing/processes'
import { PASSWORD } from '@lockstep/testing/secrets'
import { hash } from '@node-rs/argon2'
import pg from 'pg'
import { type Cost, measureCost, type Ratio, ratioOf, sum } from './cost.ts'
import { POOL } from './environment.ts'
import { loadRequests, type OperationKey, operations } from './operations.ts'
import { pinPostgres } from './pinning.ts'
import type { Size } from './size.ts'

const versions = ['before', 'after'] as const
type Version = (typeof versions)[number]

/** Half the width of the interval, as a part of the cost before. A wider one cannot detect a change of 3 %. */
const MOST_WIDTH = 0.02
const MOST_RATIO = 1.03
/** Boards that are loaded without a change in between. */
const UNCHANGED = { cards: 200, boards: 8 }
/** Boards of each size that are loaded after each change. */
const CHANGED_BOARDS = 4
const CONNECTIONS = 8

type Measure = 'Node' | 'PostgreSQL' | 'both'
export type Verdict = 'met' | 'missed' | 'noisy'
export interface Comparison extends Ratio {
  operation: string
  measure: Measure
  rounds: number
  /** CPU milliseconds per operation. */
  ms: Record<Version, number>
  verdict: Verdict
}
export interface VersusSize extends Pick<Size, 'postgres' | 'windowMs' | 'boards'> {
  /** Requests per operation and version before the measurement. */
  warmUpRequests: number
  /** Sizes of the full boards that are loaded after each change. */
  changedCards: number[]
  leastRounds: number
  mostRounds: number
}
/** A version: its main module, and its functions to seed the tables. The working tree by default. */
interface Subject {
  main?: string
  seed?: typeof ownSeed
}

/** Compares the working tree with a commit. Each has its own dependencies, tables and seed. */
export async function compareWith(commit: string, size: VersusSize, progress: Progress): Promise<Comparison[]> {
  progress(`installing ${commit} with its dependencies`)
  using old = unpackVersion(commit, ['bench'])
  // Versions before the testing package have the seed in bench/.
  const path = ['packages/testing/src/load/seed.ts', 'bench/seed.ts'].find((each) => existsSync(join(old.folder, each)))
  assertValid(path !== undefined, `${commit} has no seed`)
  const seed = (await import(pathToFileURL(join(old.folder, path)).href)) as typeof ownSeed
  return await compare({ before: { main: old.main, seed }, after: {} }, size, progress)
}

async function compare(
  subjects: Record<Version, Subject>,
  size: VersusSize,
  progress: Progress,
): Promise<Comparison[]> {
  await using stores = await startStores({ postgres: size.postgres })
  pinPostgres(stores.postgres.process().pid)
  using load = new LoadWorker()
  const server = new pg.Client({ connectionString: stores.postgres.url })
  // Without a listener, the error of this connection when PostgreSQL stops would hide the first error.
  server.on('error', () => {})
  await server.connect()
  const start = (version: Version) => startVersion(subjects[version], stores.settings(version))
  for (const version of versions) {
    progress(`${version}: migrating, seeding ${size.boards} boards`)
    const service = await start(version)
    const tokens = await seedAndLogIn(subjects[version].seed ?? ownSeed, stores.url(version), size, service.baseUrl)
    for (const compared of comparedOf(size))
      await load.prepare(`${compared} ${version}`, requestsOf(compared, tokens, size))
    await service.end()
  }
  const rounds: Rounds = new Map(comparedOf(size).map((compared) => [compared, []]))
  for (let round = 1; ; round++) {
    await oneRound(rounds, round % 2 === 0 ? versions.toReversed() : [...versions], { load, server, start, size })
    const comparisons = [...rounds].flatMap(([compared, costs]) => judge(nameOf(compared), costs, size))
    const isDecided = comparisons.every((each) => each.verdict !== 'noisy')
    const isLast = round >= size.mostRounds || (round >= size.leastRounds && isDecided)
    if (isLast || round % 5 === 0) for (const each of comparisons) progress(`  ${describeComparison(each)}`)
    if (!isLast) continue
    await server.end()
    return comparisons
  }
}

type Rounds = Map<Compared, Record<Version, Cost>[]>

interface RoundOptions {
  load: LoadWorker
  server: pg.Client
  start: (version: Version) => Promise<ServiceProcess>
  size: VersusSize
}

/**
 * Runs one paired round. Both versions are restarted for it, because compilation and memory layout make two starts of the
 * same version differ by more than the effect to measure. The order A B B A cancels out a steady drift.
 */
async function oneRound(rounds: Rounds, [a, b]: Version[], { load, server, start, size }: RoundOptions) {
  assertValid(a !== undefined && b !== undefined, 'a round needs two versions')
  const running = { [a]: await start(a), [b]: await start(b) } as Record<Version, ServiceProcess>
  const send = (key: Compared, version: Version) =>
    load.runValid(`${key} ${version}`, running[version].baseUrl, { connections: CONNECTIONS, ms: size.windowMs })
  const measure = (key: Compared, version: Version) =>
    measureCost({ server, database: version, pid: running[version].pid }, async () => (await send(key, version)).sent)
  for (const [key, costsOfRounds] of rounds) {
    // Warms up compiled code, plans and connections.
    for (const version of [a, b])
      for (let sent = 0; sent < warmUpRequestsOf(key, size); ) sent += (await send(key, version)).sent
    const costs: Record<Version, Cost[]> = { before: [], after: [] }
    for (const version of [a, b, b, a]) costs[version].push(await measure(key, version))
    costsOfRounds.push({ before: total(costs.before), after: total(costs.after) })
  }
  await Promise.all([running[a].end(), running[b].end()])
}

/** Starts a version, which creates and migrates its own database. */
const startVersion = ({ main }: Subject, settings: Record<string, string>) =>
  startServiceProcess(
    {
      ...settings,
      DATABASE_POOL_SIZE: String(POOL),
      TOKEN_LIFETIME_SECONDS: '7200',
      DRAIN_SECONDS: '0',
      // Off by default in development, but their cost must be compared too. Versions without these settings ignore them.
      QUOTAS: 'on',
      FAIR_SHARES: 'on',
      // Seeded boards of 5,000 cards are above the default, which rejects any growth.
      MAX_BOARD_TEXT_BYTES: String(1_000_000_000),
    },
    main,
  )

/** Seeds the tables and logs in the users: the format of a token may differ between versions. */
async function seedAndLogIn(seed: typeof ownSeed, url: string, size: VersusSize, baseUrl: string): Promise<string[]> {
  const { boards } = size
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  const hashed = await hash(PASSWORD, { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  await seed.seedUsers(pool, 1, seed.USERS, hashed)
  await seed.seedBoards(pool, { from: 1, to: boards })
  await seed.seedBoards(pool, { from: boards + 1, to: boards + UNCHANGED.boards, cards: UNCHANGED.cards })
  for (const cards of size.changedCards) {
    const from = firstOf(cards, size)
    await seed.seedBoards(pool, { from, to: from + CHANGED_BOARDS - 1, cards })
  }
  await pool.query('vacuum analyze')
  await pool.end()
  const tokens = ['']
  for (let user = 1; user <= seed.USERS; user++) {
    const body = new URLSearchParams({ username: `user${user}@example.com`, password: PASSWORD })
    const response = await fetch(`${baseUrl}/auth/login`, { method: 'POST', body })
    assertValid(response.ok, `a login returned ${response.status}`)
    tokens.push(((await response.json()) as { access_token: string }).access_token)
  }
  return tokens
}

/** Operations by name. For full boards: the number of cards of boards that change before each load. */
type Compared = OperationKey | 'unchanged full board' | number
const comparedOf = ({ changedCards }: VersusSize): Compared[] => [
  'create',
  'move',
  'unchanged full board',
  ...changedCards,
]
const nameOf = (compared: Compared) =>
  typeof compared === 'number'
    ? `full board of ${compared} cards after a change`
    : compared === 'unchanged full board'
      ? compared
      : operations[compared].name
/** The number of the first board of this size. */
const firstOf = (cards: number, { boards, changedCards }: VersusSize) =>
  boards + UNCHANGED.boards + 1 + changedCards.indexOf(cards) * CHANGED_BOARDS
/** A large board costs as much as many writes. */
const warmUpRequestsOf = (compared: Compared, { warmUpRequests }: VersusSize) =>
  typeof compared === 'number' ? Math.ceil((warmUpRequests * 40) / compared) : warmUpRequests

function requestsOf(compared: Compared, tokens: string[], size: VersusSize): LoadRequest[] {
  const { boards } = size
  const load = (board: number): LoadRequest => ({
    method: 'GET',
    path: `/boards/${ownSeed.idOf('board', board)}`,
    token: tokens[1 + (board % ownSeed.USERS)] as string,
    headers: 'Accept-Encoding: gzip\r\n',
    status: 200,
  })
  const rename = (board: number): LoadRequest => ({
    method: 'PATCH',
    path: `/cards/${ownSeed.idOf('card', ownSeed.cardOf(board, 1))}`,
    token: tokens[1 + (board % ownSeed.USERS)] as string,
    body: JSON.stringify({ title: `Title ${UNIQUE_NUMBER}` }),
    status: 200,
  })
  const numbers = (first: number, length: number) => Array.from({ length }, (_, nth) => first + nth)
  if (compared === 'unchanged full board') return numbers(boards + 1, UNCHANGED.boards).map(load)
  if (typeof compared === 'number')
    return numbers(firstOf(compared, size), CHANGED_BOARDS).flatMap((board) => [rename(board), load(board)])
  return loadRequests(compared, { count: Math.max(boards * 12, 1_000), boards, tokens })
}

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

/** The verdicts for an operation. With too few rounds it is noisy, whatever the interval. */
export function judge(
  operation: string,
  rounds: Record<Version, Cost>[],
  { leastRounds }: Pick<VersusSize, 'leastRounds'>,
): Comparison[] {
  return (Object.keys(costOf) as Measure[]).map((measure) => {
    const of = (version: Version) => rounds.map((round) => costOf[measure](round[version]))
    const [before, after] = [of('before'), of('after')]
    const estimate = ratioOf(after.map((cost, i) => cost / (before[i] as number)))
    const isDecided = rounds.length >= leastRounds && isNarrow(estimate)
    const ms = { before: sum(before) / rounds.length, after: sum(after) / rounds.length }
    const verdict = isDecided ? (estimate.ratio <= MOST_RATIO ? 'met' : 'missed') : 'noisy'
    return { operation, measure, rounds: rounds.length, ms, ...estimate, verdict }
  })
}
const isNarrow = ({ ratio, low, high }: Ratio) => high - ratio <= MOST_WIDTH && ratio - low <= MOST_WIDTH

const percent = (ratio: number) => `${ratio >= 1 ? '+' : '−'}${(Math.abs(ratio - 1) * 100).toFixed(1)} %`
/** A comparison in one line. */
const describeComparison = ({ operation, measure, ms, ratio, low, high, rounds, verdict }: Comparison) =>
  `${operation}, CPU of ${measure}: ${rounded(ms.before)} → ${rounded(ms.after)} ms, ${percent(ratio)} (95 %: ${percent(low)} to ${percent(high)}, ${rounds} rounds): ${verdict}`
