import { mkdir } from 'node:fs/promises'
import type { Card } from '@lockstep/contract/cards'
import { Client } from '@lockstep/testing/client'
import { instanceSettings } from '@lockstep/testing/environment'
import { startServiceProcess } from '@lockstep/testing/processes'
import { startProxy } from '@lockstep/testing/tcp-proxy'
import { OUTPUT } from '@lockstep/testing/template-database'
import type pg from 'pg'
import type { Seeded } from '../scripts/seed-boards.ts'

/** One step of a plan, as PostgreSQL explains it after it has run. */
export interface PlanStep {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: PlanStep[]
}
/** How a table was read: the number of rows and pages. */
export interface Scan {
  table: string
  how: string
  /** The number of executions. */
  times: number
  rows: number
  pages: number
}
/** The cost of an operation, the highest of several runs. */
export interface PlanSample {
  operation: string
  statements: number
  scans: Scan[]
  rows: number
  pages: number
  /** Execution time in PostgreSQL. */
  ms: number
  /** Statements that PostgreSQL thought worth compiling first. */
  compiled: number
}
/**
 * Generic plans, or those that PostgreSQL chooses: custom plans for the first five executions, then the cheaper one.
 */
export type Mode = 'force_generic_plan' | 'auto'
const TIMES: Record<Mode, number> = { force_generic_plan: 2, auto: 7 }

/** Tolerance of rows on a database of many times the size, because another plan may count differently. */
const GROWTH = 1.5
const SLACK_ROWS = 60
/**
 * An index scan reads a path of the tree for each execution, and a table page for each row. If it reads more, it
 * reads unrelated data.
 */
const mayTouch = ({ times, rows }: Scan) => 5 * times + 2 * rows + 20

/** All tables that a plan reads. The pages of a node do not include those of its children. */
export function scansOf(step: PlanStep, above?: string): Scan[] {
  const { Plans: below = [], 'Actual Loops': loops } = step
  const table = step['Relation Name'] ?? (step['Node Type'] === 'Bitmap Index Scan' ? above : undefined)
  const pagesOf = (each: PlanStep) => each['Shared Hit Blocks'] + each['Shared Read Blocks']
  const looked =
    step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0) + (step['Rows Removed by Index Recheck'] ?? 0)
  const own: Scan[] = table
    ? [
        {
          table,
          how: [step['Node Type'], step['Index Name']].filter(Boolean).join(' '),
          times: loops,
          rows: looked * loops,
          pages: below.reduce((rest, each) => rest - pagesOf(each), pagesOf(step)),
        },
      ]
    : []
  return [...own, ...below.flatMap((each) => scansOf(each, table))]
}

/** Violations: a table or index that is read completely, or more reads because there are more other boards. */
export function judge(before: PlanSample[], after: PlanSample[], filled: ReadonlySet<string>): string[] {
  return after.flatMap((sight) => {
    const base = before.find(({ operation }) => operation === sight.operation)
    const said = sight.scans
      .filter(({ table }) => filled.has(table))
      .flatMap((scan) => {
        if (scan.how === 'Seq Scan') return `${sight.operation} reads the whole table ${scan.table}`
        if (!scan.how.includes('Scan') || scan.pages <= mayTouch(scan)) return []
        return `${sight.operation} touches ${scan.pages} pages for ${scan.rows} rows of ${scan.table}: ${scan.how}`
      })
    if (base && sight.rows > base.rows * GROWTH + SLACK_ROWS)
      said.push(`${sight.operation} looks at ${sight.rows} rows, at ${base.rows} while there were fewer boards`)
    if (base && sight.statements !== base.statements)
      said.push(`${sight.operation} needs ${sight.statements} statements, not ${base.statements} as with fewer boards`)
    return [...new Set(said)]
  })
}

/** The tables that have rows: one without any is read as a whole, and why not. */
export async function filledTables(sql: pg.Pool): Promise<Set<string>> {
  const { rows } = await sql.query<{ relname: string }>(
    `select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and reltuples > 0`,
  )
  return new Set(rows.map((row) => row.relname))
}

interface World {
  api: Client
  board: { board_id: string }
  /** A card, and what it has. */
  card: { card_id: string }
  column: string
  label: string
  assignee: string
}
type Act = (world: World) => Promise<unknown>
const find = (query: (world: World) => Parameters<typeof searching>[1]) => (world: World) =>
  searching(world, query(world))
const searching = (
  { api, board }: World,
  query: { search?: string; label?: string; assignee?: string; column?: string; after?: string },
) => api.call('findCards', { params: board, query })

/** The operations by name. */
const actions: Record<string, Act> = {
  listBoards: ({ api }) => api.call('listBoards', {}),
  getBoard: ({ api, board }) => api.call('getBoard', { params: board }),
  countLabels: ({ api, board }) => api.call('countLabels', { params: board }),
  listEvents: ({ api, board }) => api.call('listEvents', { params: board }),
  getCard: ({ api, card }) => api.call('getCard', { params: card }),
  listCardEvents: ({ api, board, card }) => api.call('listCardEvents', { params: { ...board, ...card } }),
  listComments: ({ api, card }) => api.call('listComments', { params: card }),
  findCards: find(() => ({})),
  'findCards, next page': find(({ card }) => ({ after: card.card_id })),
  'findCards, common term': find(() => ({ search: 'the' })),
  'findCards, term that is nowhere': find(() => ({ search: 'no such words' })),
  'findCards, two letters': find(() => ({ search: 'ki' })),
  'findCards, label': find(({ label }) => ({ label })),
  'findCards, label, next page': find(({ label, card }) => ({ label, after: card.card_id })),
  'findCards, assignee': find(({ assignee }) => ({ assignee })),
  'findCards, column': find(({ column }) => ({ column })),
  'findCards, everything': find(({ label, assignee, column }) => ({ search: 'the', label, assignee, column })),
  createCard: ({ api, board, column }) =>
    api.call('createCard', { params: { ...board, column_id: column }, body: { title: 'Fix the webhook' } }),
  moveCard: ({ api, card }) => api.call('moveCard', { params: card, body: { position: 0 } }),
  updateCard: ({ api, card }) =>
    api.call('updateCard', { params: card, body: { description: `Seen at ${performance.now()}` } }),
  createComment: ({ api, card }) => api.call('createComment', { params: card, body: { body: 'Seen' } }),
}
export const OPERATIONS = Object.keys(actions)

const findUsers =
  (search: string, names?: 'true') =>
  ({ api }: World) =>
    api.call('findUsers', { query: { search, ...(names && { names }) } })
/** Searches of people, whose cost must not depend on the number of accounts. */
const searches: Record<string, Act> = {
  'findUsers, everybody': findUsers(''),
  'findUsers, frequent letters': findUsers('an'),
  'findUsers, one letter': findUsers('e'),
  'findUsers, two letters that are nowhere': findUsers('qx'),
  'findUsers, term that is nowhere': findUsers('qxqxqx'),
  'findUsers, punctuation that is nowhere': findUsers('_._'),
  'findUsers, address without letters before its domain': findUsers('---@---abc'),
  'findUsers, name that is nowhere': findUsers('qxqxqx', 'true'),
  'findUsers, two letters of no name': findUsers('qx', 'true'),
}
export const SEARCHES = Object.keys(searches)

/**
 * Starts the service on a database with auto_explain, runs each operation several times, and returns their costs. The
 * plans are those of the service's prepared statements.
 */
export async function watchPlans(
  sql: pg.Pool,
  databaseUrl: string,
  seeded: Seeded,
  mode: Mode,
  names = OPERATIONS,
  settings = {},
) {
  await mkdir(OUTPUT, { recursive: true })
  await using _ = await explainEverything(sql)
  const notes: string[] = []
  const proxy = await startProxy(databaseUrl, { hear: (note) => void notes.push(note) })
  const url = `${proxy.url}?options=${encodeURIComponent(`-c plan_cache_mode=${mode}`)}`
  const service = await startServiceProcess({ ...instanceSettings(url, ''), ...settings })
  try {
    const world = await createPlanData(service.baseUrl, seeded)
    const sights: PlanSample[] = []
    for (const operation of names) {
      const times: PlanSample[] = []
      for (let i = 0; i < TIMES[mode]; i++) {
        notes.length = 0
        const { statements } = await proxy.during(() => (({ ...actions, ...searches })[operation] as Act)(world))
        times.push(planSampleOf(operation, statements, notes))
      }
      sights.push(worstOf(times as [PlanSample, ...PlanSample[]]))
    }
    return sights
  } finally {
    await service.end()
    await proxy.close()
  }
}

/** Enables auto_explain for sessions that start before it is disposed. */
async function explainEverything(sql: pg.Pool) {
  const settings = {
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_buffers': 'on',
    'auto_explain.log_timing': 'off',
    'auto_explain.log_nested_statements': 'on',
    'auto_explain.log_format': 'json',
    'auto_explain.log_level': 'notice',
  }
  const { rows } = await sql.query<{ name: string }>('select quote_ident(current_database()) as name')
  for (const [name, value] of Object.entries(settings))
    await sql.query(`alter database ${rows[0]?.name} set ${name} = '${value}'`)
  return { [Symbol.asyncDispose]: async () => void (await sql.query(`alter database ${rows[0]?.name} reset all`)) }
}

async function createPlanData(baseUrl: string, { user, board_ids }: Seeded): Promise<World> {
  const { email: username, password } = user
  const { access_token } = await new Client(baseUrl).call('login', { body: { username, password } })
  const api = new Client(baseUrl, access_token)
  const board = { board_id: board_ids[0] as string }
  const { columns } = await api.call('getBoard', { params: board })
  // One in the middle of all pages.
  const cards = columns.flatMap((column) => column.cards).sort((a, b) => (a.id < b.id ? -1 : 1))
  const { id: card_id, column_id: column, labels, assignees } = cards[cards.length >> 1] as Card
  const [label, assignee] = [labels[0]?.id as string, assignees[0]?.id as string]
  return { api, board, card: { card_id }, column, label, assignee }
}

function planSampleOf(operation: string, statements: number, notes: readonly string[]): PlanSample {
  const found = notes.flatMap((note) => /^duration: ([\d.]+) ms {2}plan:\n([\s\S]+)$/.exec(note) ?? [])
  const plans: { ms: number; compiled: boolean; scans: Scan[] }[] = []
  for (let i = 0; i < found.length; i += 3) {
    const explained = JSON.parse(found[i + 2] as string) as { Plan: PlanStep; JIT?: object }
    plans.push({ ms: Number(found[i + 1]), compiled: 'JIT' in explained, scans: scansOf(explained.Plan) })
  }
  const scans = plans.flatMap((plan) => plan.scans)
  const sum = (of: (scan: Scan) => number) => scans.reduce((total, scan) => total + of(scan), 0)
  return {
    operation,
    statements,
    scans,
    rows: sum(({ rows }) => rows),
    pages: sum(({ pages }) => pages),
    ms: plans.reduce((total, { ms }) => total + ms, 0),
    compiled: plans.filter(({ compiled }) => compiled).length,
  }
}

function worstOf(times: [PlanSample, ...PlanSample[]]): PlanSample {
  const worst = (of: (sight: PlanSample) => number) => Math.max(...times.map(of))
  const ms = times.map((sight) => sight.ms).sort((a, b) => a - b)
  return {
    operation: times[0].operation,
    statements: worst((sight) => sight.statements),
    scans: times.flatMap((sight) => sight.scans),
    rows: worst((sight) => sight.rows),
    pages: worst((sight) => sight.pages),
    ms: ms[ms.length >> 1] as number,
    compiled: worst((sight) => sight.compiled),
  }
}
