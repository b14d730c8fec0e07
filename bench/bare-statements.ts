import { eventually } from '../packages/server/testing/processes.ts'
import { MARK, type Sending } from './load.ts'
import { demand } from './measure.ts'
import { COUNT_IDS, DESCRIPTION, NEW_ID, type OperationKey, operations, TITLE } from './operations.ts'
import { idIn, idOf, type Kind, seedBoards, seedUsers, USERS } from './seed.ts'
import type { Stage } from './stage.ts'

/** A statement as PostgreSQL was asked to execute it, with the values of its parameters. */
interface Executed {
  name: string
  text: string
  values: (string | null)[]
}
/** The distance that the service keeps between ranks at the end of a list. */
const GAP = 2 ** 20
const DATABASE = 'captured'

/**
 * What the service really sends for each kind of write, as scripts for pgbench: the same statements in the same order, with
 * other boards and cards each time. They are taken from PostgreSQL's own log of a request, so they are never out of date.
 */
export async function captureScripts(stage: Stage): Promise<Record<OperationKey, string>> {
  await stage.emptyDatabase(DATABASE)
  await seedUsers(stage.sql(DATABASE), 1, USERS)
  await seedBoards(stage.sql(DATABASE), { from: 1, to: 1 })
  const url = new URL(stage.url(DATABASE))
  url.searchParams.set('options', '-c log_statement=all')
  const service = await stage.service(DATABASE, { DATABASE_URL: url.href })
  try {
    const scripts = {} as Record<OperationKey, string>
    for (const key of Object.keys(operations) as OperationKey[]) {
      // Twice the same, so nothing of the service's own chores is among it.
      let [before, captured] = [
        await capture(stage, service.base_url, key, 0),
        await capture(stage, service.base_url, key, 1),
      ]
      for (let nth = 2; namesOf(before.executed) !== namesOf(captured.executed); nth++) {
        demand(nth < 8, `${key} is never done in the same way: ${namesOf(captured.executed)}`)
        ;[before, captured] = [captured, await capture(stage, service.base_url, key, nth)]
      }
      scripts[key] = scriptOf(key, captured)
    }
    return scripts
  } finally {
    await service.end()
  }
}
const namesOf = (executed: Executed[]) => executed.map(({ name }) => name).join(' ')

interface Captured {
  executed: Executed[]
  /** What the request and the database held before it, and what pgbench says instead. */
  known: Map<string, string>
}

async function capture(stage: Stage, base_url: string, key: OperationKey, nth: number): Promise<Captured> {
  const { user, sending } = operations[key].request(nth * 100 + 1, 1)
  const number = String(10_000_000 + nth)
  const body = sending.body?.replace(MARK, number)
  const known = await knownBefore(stage, sending, user, body ?? '', number)
  const from = stage.postgres.process().output().length
  const response = await fetch(base_url + sending.path, {
    method: sending.method,
    headers: {
      authorization: `Bearer ${stage.tokens[user]}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body }),
  })
  demand(response.status === operations[key].status, `${key} answered ${response.status}: ${await response.text()}`)
  const told = () => stage.postgres.process().output().slice(from)
  const executed = await eventually('PostgreSQL tells of it', () => {
    const all = parseLog(told())
    return all.some(({ text }) => text.includes('board_events')) && /\bcommit\b/i.test(told()) && all
  })
  return { executed, known }
}

async function knownBefore(stage: Stage, { path }: Sending, user: number, body: string, number: string) {
  const sql = stage.sql(DATABASE)
  const ids = [...new Set(`${path} ${body}`.match(/[\da-f]{8}-[\da-f-]{27}/g))]
  const kinds: Kind[] = ['user', 'board', 'column', 'label', 'card']
  const known = new Map<string, string>()
  const add = (id: string) => {
    const kind = kinds[Number(id[22]) - 1] as Kind
    known.set(id, idIn(kind, `:${kind}`))
  }
  for (const id of ids) add(id)
  add(idOf('user', user))
  add(idOf('board', 1))
  known.set(TITLE, ':title')
  known.set(DESCRIPTION, ':description')
  known.set(`Title ${number}`, "('Title ' || :number)")
  const last_seq = 7_000_000 + Math.floor(Math.random() * 1_000_000)
  await sql.query('update board_stream set last_seq = $1', [last_seq])
  known.set(String(last_seq), ':last_seq::int8')
  const column = ids.find((id) => id[22] === '3')
  const card = ids.find((id) => id[22] === '5')
  if (card) {
    const { rows } = await sql.query<{ column_id: string }>('select column_id from cards where id = $1', [card])
    const from_id = rows[0]?.column_id
    if (from_id && !known.has(from_id)) known.set(from_id, ':from_id')
  }
  if (column) {
    const { rows } = await sql.query<{ low: string; high: string }>(
      'select min(rank) as low, max(rank) as high from cards where column_id = $1 and id is distinct from $2',
      [column, card ?? null],
    )
    known.set(String(Number(rows[0]?.high) + GAP), `(:rank::int8 + ${GAP})`)
    known.set(String(Number(rows[0]?.low) - GAP), `(:rank::int8 - ${GAP})`)
  }
  return known
}

/** What was executed, in order, out of PostgreSQL's log. Lines of one message begin with a tab. */
export function parseLog(log: string): Executed[] {
  const messages = log
    .split(/^@(?=\d+@)/m)
    .map((message) => message.replace(/^\d+@/, '').replaceAll('\n\t', '\n').trim())
  const executed: Executed[] = []
  for (const message of messages) {
    const [, name, text] = /^LOG: {2}(?:execute ([^:]+)|statement): ([\s\S]+)$/.exec(message) ?? []
    const details = /^DETAIL: {2}parameters: ([\s\S]+)$/i.exec(message)?.[1]
    if (text !== undefined) executed.push({ name: name ?? text.slice(0, 20), text, values: [] })
    const last = executed.at(-1)
    if (details !== undefined && last) {
      last.values = [...details.matchAll(/\$\d+ = (?:NULL|'((?:[^']|'')*)')/g)].map(([, value]) =>
        value === undefined ? null : value.replaceAll("''", "'"),
      )
    }
  }
  return executed
}

/** The captured statements as a script, in one transaction from where the service begins one. */
function scriptOf(key: OperationKey, { executed, known }: Captured): string {
  const isBegin = ({ text }: Executed) => /^begin\b/i.test(text)
  const lines = [operations[key].choose, COUNT_IDS]
  // One that the service sends in one flight, without a word of it, is a transaction too.
  if (!executed.some(isBegin))
    executed = [
      { name: 'begin', text: 'begin', values: [] },
      ...executed,
      { name: 'commit', text: 'commit', values: [] },
    ]
  if (executed.some(({ text }) => /\bas json\b/.test(text))) known.set(ASKED_JSON, ':json')
  for (const { text, values } of executed) {
    const filled = text.replaceAll(/\$(\d+)/g, (_, nth: string) => expressionOf(values[Number(nth) - 1] ?? null, known))
    const isAsked = /\bas (at|json|from_id)\b/.test(text) || /^\s*select item\.rank/.test(text)
    lines.push(`${withoutColons(filled)} ${isAsked ? '\\gset' : ';'}\n`)
  }
  return lines.join('')
}

/** Among what is known when a statement before has answered the JSON of the thing: no value looks like it. */
const ASKED_JSON = '\0json'
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
const EVENT =
  /^(\{"type":"[\w.]+","data":)(\{[\s\S]*\})(,"user_id":")([^"]+)(","timestamp":")[^"]+(","version":[\s\S]*)$/

/** What stands for a value in the script: a variable, something made of variables, or the value itself. */
export function expressionOf(value: string | null, known: ReadonlyMap<string, string>): string {
  if (value === null) return 'null'
  const exact = known.get(value)
  if (exact) return exact
  if (/^\d{4}-\d\d-\d\d[T ][\d:.]+(Z|[+-]\d\d)$/.test(value)) return ':at'
  // When the log was last written to, in milliseconds: the statement costs the same whatever it says.
  if (/^\d{13}$/.test(value)) return value
  if (/^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/.test(value)) return NEW_ID
  const only = /^\{"?((?:[^"\\,{}]|\\.)+|\{.*\})"?\}$/s.exec(value)?.[1]
  const event = value.startsWith('{"{') && EVENT.exec(value.slice(2, -2).replaceAll(/\\(.)/g, '$1'))
  if (event) {
    const [, type, data = '', user, id = '', time, version] = event as unknown as string[]
    // What PostgreSQL did not make into text the service knew; its length is what counts.
    return `array[${quoted(`${type}`)} || ${known.has(ASKED_JSON) ? ':json' : quoted(data)} || ${quoted(`${user}`)} || ${known.get(id) ?? quoted(id)} || ${quoted(`${time}`)} || :at || ${quoted(`${version}`)}]`
  }
  if (only !== undefined && value.startsWith('{') && !value.startsWith('{"') && known.has(only))
    return `('{' || ${known.get(only)} || '}')`
  for (const [part, expression] of known) {
    const at = value.indexOf(part)
    if (at === -1 || part.length < 8) continue
    return `(${quoted(value.slice(0, at))} || ${expression} || ${quoted(value.slice(at + part.length))})`
  }
  demand(value.length < 40 && !/\d{6}/.test(value), `nobody knows where the service has this from: ${value}`)
  return quoted(value)
}

/** pgbench takes a colon before a letter for a variable, also within quotes. */
export const withoutColons = (text: string) =>
  text.replaceAll(/'(?:[^']|'')*'/g, (literal) =>
    /:\w/.test(literal) ? `(${literal.replaceAll(/:(?=\w)/g, "' || chr(58) || '")})` : literal,
  )
