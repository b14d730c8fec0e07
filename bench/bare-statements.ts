import { UNIQUE_NUMBER } from '@lockstep/testing/load/http-load'
import { assertValid } from '@lockstep/testing/load/measure'
import { idIn, idOf, type Kind, seedBoards, seedUsers, USERS } from '@lockstep/testing/load/seed'
import { eventually } from '@lockstep/testing/processes'
import type { Environment } from './environment.ts'
import { COUNT_IDS, DESCRIPTION, NEW_ID, type OperationKey, operations, TITLE } from './operations.ts'

/** A statement from PostgreSQL's log, with its parameter values. */
interface LoggedStatement {
  name: string
  text: string
  values: (string | null)[]
}
/** The distance between ranks at the end of a list. */
const GAP = 2 ** 20
const DATABASE = 'captured'

/**
 * Builds a pgbench script for each kind of write: the statements that the service sends, in the same order, with other
 * boards and cards each time. They come from PostgreSQL's log of a real request, so they cannot become outdated.
 */
export async function captureScripts(environment: Environment): Promise<Record<OperationKey, string>> {
  await environment.createDatabase(DATABASE)
  await seedUsers(environment.pool(DATABASE), 1, USERS)
  await seedBoards(environment.pool(DATABASE), { from: 1, to: 1 })
  const url = new URL(environment.url(DATABASE))
  url.searchParams.set('options', '-c log_statement=all')
  const service = await environment.startService(DATABASE, { DATABASE_URL: url.href })
  const capture = (key: OperationKey, nth: number) => captureRequest(environment, service.baseUrl, key, nth)
  try {
    const scripts = {} as Record<OperationKey, string>
    for (const key of Object.keys(operations) as OperationKey[]) {
      // Until two consecutive requests have the same statements: then none of them belongs to a background job.
      let [previous, captured] = [await capture(key, 0), await capture(key, 1)]
      for (let nth = 2; namesOf(previous.statements) !== namesOf(captured.statements); nth++) {
        assertValid(nth < 8, `the statements of ${key} differ each time: ${namesOf(captured.statements)}`)
        ;[previous, captured] = [captured, await capture(key, nth)]
      }
      scripts[key] = scriptOf(key, captured)
    }
    return scripts
  } finally {
    await service.end()
  }
}
const namesOf = (statements: LoggedStatement[]) => statements.map(({ name }) => name).join(' ')

/** Parameter values of the captured request, and the pgbench expressions that replace them. */
type Replacements = Map<string, string>
interface CapturedRequest {
  statements: LoggedStatement[]
  replacements: Replacements
}

async function captureRequest(
  environment: Environment,
  baseUrl: string,
  key: OperationKey,
  nth: number,
): Promise<CapturedRequest> {
  const { user, request } = operations[key].request(nth * 100 + 1, 1)
  const number = String(10_000_000 + nth)
  const body = request.body?.replace(UNIQUE_NUMBER, number)
  const replacements = await readReplacements(environment, `${request.path} ${body ?? ''}`, user, number)
  const { output } = environment.postgres.process()
  const logStart = output().length
  const response = await fetch(baseUrl + request.path, {
    method: request.method,
    headers: {
      authorization: `Bearer ${environment.tokens[user]}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body }),
  })
  assertValid(response.status === operations[key].status, `${key}: ${response.status} ${await response.text()}`)
  const statements = await eventually('the statements are in the log of PostgreSQL', () => {
    const log = output().slice(logStart)
    const all = parseLog(log)
    return all.some(({ text }) => text.includes('board_events')) && /\bcommit\b/i.test(log) && all
  })
  return { statements, replacements }
}

/** Must be called before the request: some values are read from the rows that it changes. */
async function readReplacements(environment: Environment, pathAndBody: string, user: number, number: string) {
  const pool = environment.pool(DATABASE)
  const ids = [...new Set(pathAndBody.match(/[\da-f]{8}-[\da-f-]{27}/g))]
  const kinds: Kind[] = ['user', 'board', 'column', 'label', 'card']
  const replacements: Replacements = new Map()
  for (const id of [...ids, idOf('user', user), idOf('board', 1)]) {
    const kind = kinds[Number(id[22]) - 1] as Kind
    replacements.set(id, idIn(kind, `:${kind}`))
  }
  replacements.set(TITLE, ':title')
  replacements.set(DESCRIPTION, ':description')
  replacements.set(`Title ${number}`, "('Title ' || :number)")
  const lastSeq = 7_000_000 + Math.floor(Math.random() * 1_000_000)
  await pool.query('update board_stream set last_seq = $1', [lastSeq])
  replacements.set(String(lastSeq), ':last_seq::int8')
  const column = ids.find((id) => id[22] === '3')
  const card = ids.find((id) => id[22] === '5')
  if (card) {
    const { rows } = await pool.query<{ column_id: string }>('select column_id from cards where id = $1', [card])
    const fromId = rows[0]?.column_id
    if (fromId && !replacements.has(fromId)) replacements.set(fromId, ':from_id')
  }
  if (column) {
    const { rows } = await pool.query<{ low: string; high: string }>(
      'select min(rank) as low, max(rank) as high from cards where column_id = $1 and id is distinct from $2',
      [column, card ?? null],
    )
    replacements.set(String(Number(rows[0]?.high) + GAP), `(:rank::int8 + ${GAP})`)
    replacements.set(String(Number(rows[0]?.low) - GAP), `(:rank::int8 - ${GAP})`)
  }
  return replacements
}

/** Extracts the executed statements from PostgreSQL's log, in order. Continuation lines of a message begin with a tab. */
export function parseLog(log: string): LoggedStatement[] {
  const messages = log
    .split(/^@(?=\d+@)/m)
    .map((message) => message.replace(/^\d+@/, '').replaceAll('\n\t', '\n').trim())
  const statements: LoggedStatement[] = []
  for (const message of messages) {
    const [, name, text] = /^LOG: {2}(?:execute ([^:]+)|statement): ([\s\S]+)$/.exec(message) ?? []
    const details = /^DETAIL: {2}parameters: ([\s\S]+)$/i.exec(message)?.[1]
    if (text !== undefined) statements.push({ name: name ?? text.slice(0, 20), text, values: [] })
    const last = statements.at(-1)
    if (details !== undefined && last) {
      last.values = [...details.matchAll(/\$\d+ = (?:NULL|'((?:[^']|'')*)')/g)].map(([, value]) =>
        value === undefined ? null : value.replaceAll("''", "'"),
      )
    }
  }
  return statements
}

/** Turns the captured statements into a script with one transaction. */
function scriptOf(key: OperationKey, { statements, replacements }: CapturedRequest): string {
  const lines = [operations[key].variables, COUNT_IDS]
  // A batch with one Sync is a transaction too, without BEGIN and COMMIT.
  const hasBegin = statements.some(({ text }) => /^begin\b/i.test(text))
  const control = (text: string): LoggedStatement => ({ name: text, text, values: [] })
  const transaction = hasBegin ? statements : [control('begin'), ...statements, control('commit')]
  if (transaction.some(({ text }) => /\bas json\b/.test(text))) replacements.set(SELECTED_JSON, ':json')
  for (const { text, values } of transaction) {
    const filled = text.replaceAll(/\$(\d+)/g, (_, nth: string) =>
      expressionOf(values[Number(nth) - 1] ?? null, replacements),
    )
    const isRead = /\bas (at|json|from_id)\b/.test(text) || /^\s*select item\.rank/.test(text)
    lines.push(`${withoutColons(filled)} ${isRead ? '\\gset' : ';'}\n`)
  }
  return lines.join('')
}

/** Key among the replacements when an earlier statement selects the JSON of the resource. It equals no parameter value. */
const SELECTED_JSON = '\0json'
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
const EVENT =
  /^(\{"type":"[\w.]+","data":)(\{[\s\S]*\})(,"user_id":")([^"]+)(","timestamp":")[^"]+(","version":[\s\S]*)$/

/** The expression for a parameter value in the script: a variable, an expression with variables, or the value itself. */
export function expressionOf(value: string | null, replacements: ReadonlyMap<string, string>): string {
  if (value === null) return 'null'
  const exact = replacements.get(value)
  if (exact) return exact
  if (/^\d{4}-\d\d-\d\d[T ][\d:.]+(Z|[+-]\d\d)$/.test(value)) return ':at'
  // The time of the last event in milliseconds. The statement costs the same with any value.
  if (/^\d{13}$/.test(value)) return value
  if (/^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/.test(value)) return NEW_ID
  const only = /^\{"?((?:[^"\\,{}]|\\.)+|\{.*\})"?\}$/s.exec(value)?.[1]
  const event = value.startsWith('{"{') && EVENT.exec(value.slice(2, -2).replaceAll(/\\(.)/g, '$1'))
  if (event) {
    const [, type, data = '', user, id = '', time, version] = event as unknown as string[]
    // JSON that the service built itself is repeated as it is: only its length matters.
    return `array[${quoted(`${type}`)} || ${replacements.has(SELECTED_JSON) ? ':json' : quoted(data)} || ${quoted(`${user}`)} || ${replacements.get(id) ?? quoted(id)} || ${quoted(`${time}`)} || :at || ${quoted(`${version}`)}]`
  }
  if (only !== undefined && value.startsWith('{') && !value.startsWith('{"') && replacements.has(only))
    return `('{' || ${replacements.get(only)} || '}')`
  for (const [part, expression] of replacements) {
    const at = value.indexOf(part)
    if (at === -1 || part.length < 8) continue
    return `(${quoted(value.slice(0, at))} || ${expression} || ${quoted(value.slice(at + part.length))})`
  }
  assertValid(value.length < 40 && !/\d{6}/.test(value), `a parameter value of unknown origin: ${value}`)
  return quoted(value)
}

/** Replaces colons in string literals: pgbench substitutes `:name` even within quotes. */
export const withoutColons = (text: string) =>
  text.replaceAll(/'(?:[^']|'')*'/g, (literal) =>
    /:\w/.test(literal) ? `(${literal.replaceAll(/:(?=\w)/g, "' || chr(58) || '")})` : literal,
  )
