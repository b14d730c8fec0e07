import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type * as contract from '@lockstep/contract'
import { type EventKind, events } from '@lockstep/contract'
import type { Board, FullBoard } from '@lockstep/contract/boards'
import { EVENT_VERSION } from '@lockstep/contract/realtime'
import { Client } from '@lockstep/testing/client'
import { checkClosed } from '@lockstep/testing/closed-schema'
import { startStores } from '@lockstep/testing/environment'
import { emptyBoard, foldBoard } from '@lockstep/testing/fold'
import { makeAudience } from '@lockstep/testing/load/environment'
import { eventually, startAdmin, startServiceProcess } from '@lockstep/testing/processes'
import type pg from 'pg'
import { previousVersion, unpackPreviousVersion, withoutLaterFields } from '../previous-version.ts'
import { atLeast, collectFigures, equals, info, type Progress, type Report } from './report.ts'
import {
  type Instance,
  type LoadedBoard,
  UpgradeWorkload,
  type WorkloadSize,
  withLaterFields,
} from './upgrade-workload.ts'

export interface UpgradeSize extends WorkloadSize {
  /** Duration of the phase with both versions, and of the other phases. */
  togetherSeconds: number
  stageSeconds: number
}
// One board for each writer, so that only a migration can block it.
const FULL: UpgradeSize = {
  boards: 16,
  writers: 16,
  readers: 4,
  sockets: 50,
  thinkingMs: 300,
  togetherSeconds: 120,
  stageSeconds: 10,
}

export interface Upgrade {
  failures: string[]
  stages: UpgradeWorkload['phases']
  /** Exit codes of the replaced instances. */
  exits: (number | null)[]
  /** The migrations between the two versions. */
  migrated: string[]
  events: number
  deliveries: number
  resumes: number
}

/**
 * Migrates the schema under two instances of the old version with load, replaces them one by one by the new version,
 * and then rolls back one by one on the new schema.
 */
export async function upgradeUnderLoad(size: UpgradeSize, progress: Progress): Promise<Upgrade> {
  using old = unpackPreviousVersion()
  await using stores = await startStores()
  await stores.createDatabase('lockstep')
  const settings = { ...stores.settings(), DRAIN_SECONDS: '1' }
  const start = async (version: Instance['version']): Promise<Instance> => ({
    ...(await startServiceProcess(settings, version === 'old' ? old.main : undefined)),
    version,
  })
  const [first, second] = await Promise.all([start('old'), start('old')])
  const sql = stores.pool('lockstep')
  const boards = await makeBoards(first.baseUrl, sql, size.boards)
  const { operations } = (await import(join(old.folder, 'packages/contract/src/index.ts'))) as typeof contract
  return await rollOver({ size, progress, settings, sql, boards, operations, start, first, second })
}

interface RollingUpgrade {
  size: UpgradeSize
  progress: Progress
  settings: Record<string, string>
  sql: pg.Pool
  boards: LoadedBoard[]
  /** The contract of the old version. */
  operations: typeof contract.operations
  start: (version: Instance['version']) => Promise<Instance>
  first: Instance
  second: Instance
}
async function rollOver({
  size,
  progress,
  settings,
  sql,
  boards,
  operations,
  start,
  first,
  second,
}: RollingUpgrade): Promise<Upgrade> {
  const load = new UpgradeWorkload(boards, operations)
  const exits: Upgrade['exits'] = []
  const stage = (name: string) => {
    load.beginPhase(name)
    progress(`${name} (${load.answered} requests so far, ${load.failures.length} failures)`)
  }
  const rest = (seconds = size.stageSeconds) => pause(seconds * 1_000)
  /** The new instance is added before the old one is removed. */
  const replace = async (leaving: Instance, version: Instance['version']) => {
    const coming = await start(version)
    load.addInstance(coming)
    exits.push(await load.removeInstance(leaving))
    return coming
  }
  load.addInstance(first)
  load.addInstance(second)
  stage('two old instances')
  load.start(size)
  await rest()
  stage('migrating below them')
  const migrating = startAdmin(['migrate'], settings)
  const code = await migrating.ended
  const output = migrating.output()
  if (code !== 0) throw new Error(`The migration failed: ${output}`)
  const migrated = [...output.matchAll(/^migrated \{"name":"(\w+)"/gm)].map(([, name]) => name as string)
  await rest()
  stage('one old, one new')
  const third = await replace(first, 'new')
  await rest(size.togetherSeconds)
  stage('two new')
  const fourth = await replace(second, 'new')
  await rest()
  stage('one new, one old again')
  const fifth = await replace(third, 'old')
  await rest()
  stage('two old ones on the new schema')
  const sixth = await replace(fourth, 'old')
  await rest()
  await load.stop()
  const found = await checkBoards(load, sql, boards, [fifth, sixth])
  return {
    failures: load.failures,
    stages: load.phases,
    exits,
    migrated,
    ...found,
    resumes: load.watchers.reduce((sum, { resumes }) => sum + resumes, 0),
  }
}

/** Creates boards with one owner, two columns and a label each. */
export async function makeBoards(baseUrl: string, sql: pg.Pool, count: number): Promise<LoadedBoard[]> {
  const { tokens } = await makeAudience(sql, count)
  return Promise.all(
    tokens.map(async (token) => {
      const api = new Client(baseUrl, token)
      // The previous release does not answer as the contract of this one says.
      const response = await fetch(`${baseUrl}/boards`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ title: 'Under load' }),
      })
      const created = (await response.json()) as Board
      const params = { board_id: created.id }
      const todo = await api.call('createColumn', { params, body: { title: 'To do' } })
      const done = await api.call('createColumn', { params, body: { title: 'Done' } })
      const label = await api.call('createLabel', { params, body: { name: 'Label' } })
      return { created, token, column_ids: [todo.id, done.id], label_id: label.id, received: new Map() }
    }),
  )
}

/** Compares the events of the sockets with the log, the log with the contract, and the board with both. */
export async function checkBoards(load: UpgradeWorkload, sql: pg.Pool, boards: LoadedBoard[], instances: Instance[]) {
  let count = 0
  const complain = (sentence: string) => load.failures.push(sentence)
  for (const board of boards) {
    const { rows } = await sql.query<{ seq: number; body: string }>(
      'select seq::int, body from board_events where board_id = $1 order by seq',
      [board.created.id],
    )
    count += rows.length
    const watchers = load.watchers.filter((watcher) => watcher.board === board)
    await eventually(
      'every socket has everything',
      () => watchers.every(({ seq }) => seq >= rows.length),
      60_000,
    ).catch((error: Error) => complain(error.message))
    const log = rows.map(({ body }) => JSON.parse(body) as { type: EventKind; data: unknown; version: string })
    for (const [i, { seq }] of rows.entries()) {
      const event = log[i] as (typeof log)[number]
      if (seq !== i + 1) complain(`the log has a gap before ${seq}`)
      if (event.version !== EVENT_VERSION) complain(`${seq} has the version ${event.version}`)
      try {
        checkClosed(events[event.type], withLaterFields(event.data), `${seq} ${event.type}`)
      } catch (error) {
        complain((error as Error).message)
      }
      const { seq: _, ...heard } = JSON.parse(board.received.get(seq) ?? '{}') as { seq?: number }
      if (!isDeepStrictEqual(heard, event)) complain(`sockets received another event as ${seq} than the log has`)
    }
    const folded = foldBoard(emptyBoard(board.created), log)
    for (const instance of instances) {
      const shown = (await load.send(board, 'getBoard', { params: { board_id: board.created.id } }, instance)) as
        | FullBoard
        | undefined
      if (shown === undefined) complain(`no response with the board ${board.created.id}`)
      else if (!isDeepStrictEqual(withoutLaterFields(shown), withoutLaterFields(folded)))
        complain(`the log of ${board.created.id} does not fold to the board`)
    }
  }
  const { rows: shared } = await sql.query('select from cards group by board_id, number having count(*) > 1')
  if (shared.length > 0) complain(`${shared.length} numbers are used twice`)
  const deliveries = load.watchers.reduce((sum, { seq }) => sum + seq, 0)
  for (const watcher of load.watchers) watcher.close()
  return { events: count, deliveries }
}

export async function prove(progress: Progress, size = FULL): Promise<Report> {
  const upgrade = await upgradeUnderLoad(size, progress)
  const { figures, violations, add, fail } = collectFigures(progress)
  for (const failure of upgrade.failures.slice(0, 50)) fail(failure)
  const requests = (of: (stage: Upgrade['stages'][number]) => number) =>
    upgrade.stages.reduce((sum, stage) => sum + of(stage), 0)
  add(
    info(
      'requests to the old version',
      requests((stage) => stage.requests.old),
    ),
    info(
      'requests to the new version',
      requests((stage) => stage.requests.new),
    ),
    equals('failed requests and sockets, and events lost, invalid or different', upgrade.failures.length, 0),
    equals('instances that did not exit with 0', upgrade.exits.filter((code) => code !== 0).length, 0),
    info('events', upgrade.events),
    info('deliveries to sockets', upgrade.deliveries),
    atLeast('sockets that resumed at another instance', upgrade.resumes, size.sockets),
    info(`migrations since ${previousVersion}`, upgrade.migrated.length),
    info('slowest request of all', Math.max(...upgrade.stages.map(({ slowestMs }) => slowestMs)), 'ms'),
  )
  return { figures, violations }
}
