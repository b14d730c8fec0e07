import { hash, randomBytes, randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { operations } from '@lockstep/contract'
import { formats } from '@lockstep/contract/formats'
import type { Operation } from '@lockstep/contract/operation'
import { Client, form, type Sending, sendingOf } from '@lockstep/testing/client'
import type pg from 'pg'
import { newAccount } from './accounts.ts'

/** Known values by the name of a parameter or field, or by `operation.field` where an operation needs another one. */
export type Known = Record<string, string | undefined>
/** Part of every hostile input. It must not appear in any error. */
export const CANARY = `canary-${randomBytes(3).toString('hex')}`

type Schema = NonNullable<Operation['body']>
type Fields = Record<string, unknown>
interface Shape {
  type?: string
  format?: keyof typeof formats
  const?: unknown
  default?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  minLength?: number
  maxLength?: number
  pattern?: string
  minimum?: number
  maximum?: number
  maxItems?: number
}
const shapeOf = (schema: Schema | undefined) => (schema ?? {}) as Shape
export const propertiesOf = (schema: Schema | undefined) => shapeOf(schema).properties ?? {}
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A minimal independent schema validator. The service uses a library, and the two must agree. */
export function accepts(schema: Schema, value: unknown): boolean {
  const strange = Object.keys(schema).find((keyword) => !understood.has(keyword))
  if (strange) throw new Error(`The generator does not understand the keyword ${strange}`)
  const { type, anyOf, properties = {}, required = [], items, ...bounds } = shapeOf(schema)
  const { const: constant, enum: members, format, minLength = 0, maxLength = Infinity, maxItems = Infinity } = bounds
  const { minimum = -Infinity, maximum = Infinity, pattern = '' } = bounds
  if (constant !== undefined && value !== constant) return false
  if (members && !members.includes(value)) return false
  if (type && type !== typeOf(value) && !(type === 'number' && typeof value === 'number')) return false
  if (anyOf && !anyOf.some((branch) => accepts(branch, value))) return false
  if (typeof value === 'number') return value >= minimum && value <= maximum
  if (typeof value === 'string') {
    const { length } = Array.from(value)
    const isInBounds = length >= minLength && length <= maxLength && RegExp(pattern).test(value)
    return isInBounds && (!format || formats[format].test(value))
  }
  if (Array.isArray(value)) return value.length <= maxItems && (!items || value.every((item) => accepts(items, item)))
  if (!isFields(value)) return true
  const isComplete = required.every((name) => Object.hasOwn(value, name))
  return (
    isComplete &&
    Object.entries(properties).every(([name, s]) => !Object.hasOwn(value, name) || accepts(s, value[name]))
  )
}
const understood = new Set([
  ...['type', 'format', 'const', 'enum', 'anyOf', 'items', 'properties', 'required', 'minLength', 'maxLength'],
  ...['minimum', 'maximum', 'maxItems', 'pattern', 'title', 'description', 'default'],
])
const typeOf = (value: unknown) =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value

export interface Input {
  path: string
  params: Record<string, string>
  query: Fields
  body: unknown
}

/**
 * A valid input for any operation: all body fields and the required query parameters, with known values by name or
 * values generated from the schema.
 */
export function validInput(name: string, { path, params, query, body }: Operation, known: Known): Input {
  const fill = (field: string, schema: Schema): unknown => {
    const found = lookUp(known, name, field)
    const { anyOf: [first] = [], items, properties } = shapeOf(schema)
    if (items) return [found ?? fill(`${name}.item`, items)]
    if (found !== undefined) return found
    if (properties) return Object.fromEntries(Object.entries(properties).map(([key, s]) => [key, fill(key, s)]))
    return first ? fill(field, first) : simplest(shapeOf(schema))
  }
  const ids = Object.keys(propertiesOf(params)).map((param) => {
    const id = known[`${name}.${param}`] ?? known[param]
    if (id === undefined) throw new Error(`${name} needs a {${param}}, which the fixture does not know`)
    return [param, id]
  })
  const filled = Object.fromEntries(ids) as Record<string, string>
  const required = Object.entries(propertiesOf(query)).filter(([key]) => shapeOf(query).required?.includes(key))
  return {
    path: pathTo(path, filled),
    params: filled,
    query: Object.fromEntries(required.map(([key, s]) => [key, fill(key, s)])),
    body: body && fill('body', body),
  }
}

/** `action_column_id` is a `column_id`, and `user_ids` are each a `user_id`. */
function lookUp(known: Known, operation: string, field: string): unknown {
  const one = field.replace(/_ids$/, '_id')
  const role = Object.keys(known).find((name) => name.endsWith('_id') && one.endsWith(`_${name}`))
  return known[`${operation}.${field}`] ?? known[one] ?? (role && known[role])
}

function simplest({ const: constant, default: usual, enum: [member] = [], type, format, ...bounds }: Shape): unknown {
  const { minLength = 0, maxLength = Infinity, minimum = 0 } = bounds
  const word = `w${randomBytes(8).toString('hex')}`
  if (constant !== undefined) return constant
  if (usual !== undefined) return usual
  if (member !== undefined) return member
  if (format === 'uuid') return randomUUID()
  if (format === 'date') return '2026-11-20'
  if (format === 'email') return `${word}@example.com`
  if (format === 'web-url') return `https://${word}.example.com/hook`
  if (format === 'start-position') return 'now'
  if (format === 'date-time') return '2026-11-16T12:00:00.000Z'
  if (type === 'integer' || type === 'number') return Math.max(minimum, 0)
  if (type === 'boolean') return true
  return type === 'string' ? word.padEnd(minLength, 'x').slice(0, maxLength) : null
}

export const pathTo = (template: string, params: Record<string, string>) =>
  template.replaceAll(/\{(\w+)\}/g, (_, key: string) => params[key] as string)

export const everyParam = () =>
  new Set(Object.values<Operation>(operations).flatMap(({ params }) => Object.keys(propertiesOf(params))))

/** The resources that a valid input of an operation names, in its path or body. */
export function paramsIn(name: string, operation: Operation): Set<string> {
  const ids = new Map([...everyParam()].map((param) => [randomUUID() as string, param]))
  const known = Object.fromEntries([...ids].map(([id, param]) => [param, id]))
  const input = JSON.stringify(validInput(name, operation, known))
  return new Set([...ids].flatMap(([id, param]) => (input.includes(id) ? [param] : [])))
}

/** Another user of the board assigns the user: nobody is notified of what they did themselves. */
async function makeInboxItem(api: Client, board_id: string): Promise<string> {
  const params = { board_id }
  const [{ id: user_id }, { id: other_id, token }] = await Promise.all([api.call('getMe', {}), newAccount(api.baseUrl)])
  const other = new Client(api.baseUrl, token)
  await api.call('inviteMember', { params, body: { user_id: other_id } })
  const { id: column_id } = await api.call('createColumn', { params, body: { title: 'Assigned' } })
  const at = { ...params, column_id }
  const { id: card_id } = await other.call('createCard', { params: at, body: { title: 'Mine' } })
  await other.call('assignCard', { params: { card_id }, body: { user_ids: [user_id] } })
  await api.call('removeMember', { params: { board_id, user_id: other_id } })
  const items = await api.call('listInbox', {})
  return items.find(({ card }) => card?.id === card_id)?.id as string
}

/** Makes one of everything that paths can name, each by the operation that creates it: a column by `createColumn`. */
export async function furnish(api: Client, known: Known, params: Iterable<string> = everyParam()): Promise<Known> {
  let all = known
  for (const param of params) {
    if (all[param] !== undefined) continue
    if (param === 'removed_id') {
      const { card_id } = await furnish(api, { ...all, card_id: undefined }, ['card_id'])
      await api.call('archiveCard', { params: { card_id: card_id as string } })
      all = { ...all, removed_id: card_id }
      continue
    }
    if (param === 'inbox_item_id') {
      all = await furnish(api, all, ['board_id'])
      all = { ...all, inbox_item_id: await makeInboxItem(api, all['board_id'] as string) }
      continue
    }
    const name = `create${param[0]?.toUpperCase()}${param.slice(1, -'_id'.length)}`
    const operation = (operations as Record<string, Operation>)[name]
    if (!operation) throw new Error(`Nothing creates a ${param}: the fixture must know it`)
    all = await furnish(api, all, paramsIn(name, operation))
    const { path, body } = validInput(name, operation, all)
    const send = () => api.request(operation.method, path, sendingOf(operation.body_type, body))
    let response = await send()
    // A user can have 50 tokens, and tests make many boards for one user.
    if ((response.body as { code?: string }).code === 'too_many_tokens') {
      await api.call('revokeTokens', {})
      response = await send()
    }
    if (response.status !== operation.returns.status) throw new Error(`${name} made no ${param}: ${response.text}`)
    all = { ...all, [param]: (response.body as { id: string }).id }
  }
  return all
}

/** Users for the admin operations to act on, and links, inserted directly. Nothing else depends on them. */
export async function newTargets({ sql }: { sql: pg.Pool }): Promise<Known> {
  const names = Object.entries<Operation>(operations).filter(
    ([, { access, params }]) => access === 'superuser' && params,
  )
  const { rows } = await sql.query<{ id: string }>(
    `insert into users (id, email, email_key, username, username_key, hashed_password)
     select id, 'office-' || id, 'office-' || id, 'office-' || id, 'office-' || id, 'none'
     from (select gen_random_uuid() as id from generate_series(1, $1)) made returning id`,
    [names.length],
  )
  const targets = Object.fromEntries(names.map(([name], i) => [`${name}.user_id`, rows[i]?.id]))
  return { ...targets, ...(await newLinks(sql)) }
}

/** An unused link for each operation that takes one: invitations to a board of their own, and a reset link. */
async function newLinks(sql: pg.Pool): Promise<Known> {
  const tokens = {
    'register.invitation': randomUUID(),
    'readInvitation.token': randomUUID(),
    'acceptInvitation.token': randomUUID(),
    'resetPasswordByLink.token': randomUUID(),
  }
  const [reset = '', ...invitations] = Object.values(tokens)
    .reverse()
    .map((token) => hash('sha256', token, 'base64url'))
  await sql.query(
    `with inviter as (
      insert into users (id, email, email_key, username, username_key, hashed_password)
      select id, 'office-' || id, 'office-' || id, 'office-' || id, 'office-' || id, 'none'
      from (select gen_random_uuid() as id) made returning id),
    board as (insert into boards (id, title, created_by, updated_by) select id, 'Office', id, id from inviter returning id),
    stream as (insert into board_stream (board_id) select id from board),
    membership as (insert into board_members (board_id, user_id, role) select id, id, 'owner' from board),
    link as (
      insert into password_reset_links (user_id, token_hash, expires_at)
      select id, $1, now() + interval '1 hour' from inviter)
    insert into invitations (id, token_hash, board_id, role, invited_by, expires_at)
    select gen_random_uuid(), token_hash, board.id, 'member', board.id, now() + interval '1 hour'
    from board, unnest($2::text[]) token_hash`,
    [reset, invitations],
  )
  return tokens
}

/**
 * Row triggers record every change, except those of background jobs: the job leases, and the bytes of deleted files. (A change of
 * a file also changes `attachments`.)
 */
const RECORD_CHANGES = `
  create schema if not exists test;
  create table if not exists test.changes (number bigint generated always as identity primary key, of text not null);
  create or replace function test.record_change() returns trigger language plpgsql as
    $$ begin insert into test.changes (of) values (tg_table_name); return null; end $$;
  do $$ declare name text; begin
    for name in
      select tablename from pg_tables
      where schemaname = 'public' and tablename not in ('job_leases', 'unclaimed_files', 'file_chunks')
    loop
      execute format('create or replace trigger record_change after insert or update or delete on public.%I
        for each row execute function test.record_change()', name);
    end loop;
  end $$`
const recorded = new WeakSet<pg.Pool>()

/** The last change of the database: its number and table. Two calls return the same if nothing was written in between. */
export async function lastChange({ sql }: { sql: pg.Pool }): Promise<string> {
  if (!recorded.has(sql)) {
    await sql.query(RECORD_CHANGES)
    recorded.add(sql)
  }
  const { rows } = await sql.query('select number, of from test.changes order by number desc limit 1')
  return rows[0] ? `change ${rows[0].number}, of ${rows[0].of}` : 'no change'
}

/** One hostile request. `isValid`: whether its payload is valid nevertheless; undefined if that is unknown. */
export interface Attack {
  label: string
  path: string
  sending: Sending
  isValid: boolean | undefined
}

const DEEP = '['.repeat(7_000) + ']'.repeat(7_000)
const MANY = Array.from({ length: 50_000 }, (_, i) => `"k${i}":0`).join(',')
const text = (value: unknown) => JSON.stringify(value)

/** JSON texts to put in the place of any field: text and not values, because some exist as text alone. */
const hostileValues: Record<string, string> = {
  null: 'null',
  'an integer': '5',
  'a negative integer': '-1',
  'a fraction': '2.5',
  '1e30': '1e30',
  '-0': '-0',
  '2^53+1': '9007199254740993',
  NaN: 'NaN',
  true: 'true',
  'an integer as text': '"5"',
  'true as text': '"true"',
  'a list': text([CANARY]),
  'a list of lists': text([[CANARY]]),
  'a list of nulls': '[null]',
  'an empty list': '[]',
  'a list of 5,000': text(Array(5_000).fill(5)),
  'a long list': text(Array.from({ length: 101 }, () => randomUUID())),
  'an object': text({ [CANARY]: CANARY }),
  'the empty text': '""',
  whitespace: text(' \t\u00a0\u200b '),
  // Less than any operation takes as a body.
  '15,000 characters': text(CANARY.padEnd(15_000, 'x')),
  'a NUL': text(`${CANARY}\0`),
  'half a surrogate pair': `"${CANARY}\\ud800"`,
  'a right-to-left override': text(`${CANARY}\u202e`),
  emoji: text(`${CANARY} 👩‍👩‍👧‍👦`),
  'a decomposed letter': text(`${CANARY} e\u0301`),
  markup: text(`<script>${CANARY}</script>'; drop table users; --`),
  'deep nesting': DEEP,
}

const jsonText = (fields: Record<string, string>) =>
  `{${Object.entries(fields)
    .map(([key, value]) => `${text(key)}:${value}`)
    .join(',')}}`
const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
const without = (fields: Record<string, string>, name: string) =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name))
/** Values that PostgreSQL cannot store, whatever the schema allows. */
const isUnstorable = (value: unknown) => typeof value === 'string' && (!value.isWellFormed() || value.includes('\0'))

type TextChange = (fields: Record<string, string>) => string
function jsonAttack(schema: Schema, input: () => Input, label: string, change: TextChange, field?: string): Attack {
  const { path, body } = input()
  const fields = Object.fromEntries(Object.entries(body as Fields).map(([key, value]) => [key, text(value)]))
  const content = change(fields)
  const value = parsed(content)
  const isValid = accepts(schema, value) && !isUnstorable(field && (value as Fields)[field])
  return { label, path, sending: { raw: { type: 'application/json', content } }, isValid }
}

/** Each field missing, and each field with each hostile value. */
export const fieldAttacks = (schema: Schema, input: () => Input): Attack[] =>
  Object.keys(propertiesOf(schema)).flatMap((name) => [
    jsonAttack(schema, input, `${name} missing`, (fields) => jsonText(without(fields, name))),
    ...Object.entries(hostileValues).map(([label, value]) =>
      jsonAttack(schema, input, `${name}: ${label}`, (fields) => jsonText({ ...fields, [name]: value }), name),
    ),
  ])

/** Bodies that are invalid as a whole, or only appear to be. */
export function bodyAttacks(schema: Schema, input: () => Input): Attack[] {
  const [first = 'x'] = Object.keys(propertiesOf(schema))
  const attack = (label: string, change: TextChange) => jsonAttack(schema, input, label, change)
  const added = (more: string) => (fields: Record<string, string>) => `${jsonText(fields).slice(0, -1)},${more}}`
  const wholes = ['[]', text(CANARY), 'null', '5', 'true', '{', `{"${CANARY}":`, CANARY, ' ', 'NaN', DEEP, '{"x":1,}']
  return [
    ...wholes.map((whole) => attack(`the body ${whole.slice(0, 20)}`, () => whole)),
    attack('no fields', () => '{}'),
    attack('an unknown field', added(`"${CANARY}":"${CANARY}"`)),
    attack('50,000 unknown fields', added(MANY)),
    attack('an unknown field that is deep', added(`"deep":${DEEP}`)),
    attack('__proto__', added(`"__proto__":{"${first}":"${CANARY}","is_superuser":true}`)),
    attack('only __proto__', (fields) => `{"__proto__":${jsonText(fields)}}`),
    attack('constructor.prototype', added('"constructor":{"prototype":{"is_superuser":true}}')),
    attack('a key twice, the last one valid', (f) => `{"${first}":["${CANARY}"],${jsonText(f).slice(1)}`),
    attack('a key twice, the last one wrong', added(`"${first}":["${CANARY}"]`)),
  ]
}

/** The same for forms, which carry text alone. */
export function formAttacks(schema: Schema, input: () => Input): Attack[] {
  const names = Object.keys(propertiesOf(schema))
  const attack = (label: string, change: (fields: Record<string, string>) => string): Attack => {
    const { path, body } = input()
    const content = change(body as Record<string, string>)
    const sent = Map.groupBy(new URLSearchParams(content), ([key]) => key)
    const single = Object.fromEntries([...sent].map(([key, all]) => [key, all[1] ? all : all[0]?.[1]]))
    const isValid = accepts(schema, single) && !names.some((name) => isUnstorable(single[name]))
    return { label, path, sending: { raw: { ...form({}), content } }, isValid }
  }
  const formText = (fields: Record<string, string>) => form(fields).content
  const added = (more: string) => (fields: Record<string, string>) => `${formText(fields)}&${more}`
  const texts = Object.entries(hostileValues)
    .map(([label, json]) => [label, parsed(json)] as const)
    .filter((entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1].isWellFormed())
  return [
    ...names.flatMap((name) => [
      attack(`${name} missing`, (fields) => formText(without(fields, name))),
      attack(`${name} twice`, added(`${name}=${CANARY}`)),
      attack(`${name} as an operator`, (fields) => formText(fields).replace(`${name}=`, `${name}[$ne]=`)),
      attack(`${name}: bytes that are no text`, (fields) => added(`${name}=%ff%fe`)(without(fields, name))),
      ...texts.map(([label, value]) => attack(`${name}: ${label}`, (fields) => formText({ ...fields, [name]: value }))),
    ]),
    attack('a body that is no form', () => CANARY),
    attack('only separators', () => '&&&===&'),
    attack('an unknown field', added(`${CANARY}=${CANARY}&__proto__=${CANARY}&constructor=1`)),
    attack('50,000 unknown fields', added(MANY.replaceAll(/[":]/g, '').replaceAll(',', '=&'))),
  ]
}

/** A valid body under a wrong name: without a type, with another one, in another charset, compressed, or not there. */
export function contentTypeAttacks(schema: Schema, type: 'json' | 'form', input: () => Input): Attack[] {
  const attack = (label: string, sending: (content: Buffer) => Sending): Attack => {
    const { path, body } = input()
    const content = type === 'json' ? text(body) : form(body as Record<string, string>).content
    return { label, path, sending: sending(Buffer.from(content)), isValid: false }
  }
  // An absent body counts as one without fields.
  const isValid = accepts(schema, {})
  const own = type === 'json' ? 'application/json' : form({}).type
  const other = type === 'json' ? form({}).type : 'application/json'
  const spoilt = (content: Buffer) =>
    type === 'json'
      ? [content.subarray(0, -1), Buffer.from(',"x":"\xff"}', 'latin1')]
      : [content, Buffer.from('&x=\xff', 'latin1')]
  const types = ['text/plain', other, 'multipart/form-data; boundary=x', `${own} ${CANARY}`, `${own}; charset=utf-16`]
  return [
    ...[...types, CANARY, `${own}x`].map((t) => attack(`as ${t}`, (content) => ({ raw: { type: t, content } }))),
    attack('without a type', (content) => ({ raw: { content } })),
    { ...attack('without a body', () => ({})), isValid },
    { ...attack('without a body, with a type', () => ({ headers: { 'content-type': own } })), isValid },
    attack('compressed', (c) => ({
      raw: { type: own, content: gzipSync(c) },
      headers: { 'content-encoding': 'gzip' },
    })),
    attack('bytes that are no text', (content) => ({ raw: { type: own, content: Buffer.concat(spoilt(content)) } })),
  ]
}

/** Each query parameter with hostile values, twice, and beside unknown ones. */
export function queryAttacks(schema: Schema, input: () => Input): Attack[] {
  const attack = (label: string, name: string, raw: string, isValid: boolean): Attack => ({
    label: `?${name}: ${label}`,
    path: `${input().path}?${name}=${raw}`,
    sending: {},
    isValid,
  })
  return Object.entries(propertiesOf(schema)).flatMap(([name, field]) => {
    const isInteger = shapeOf(field).type === 'integer'
    const judge = (value: string) => accepts(field, isInteger && /^-?\d+$/.test(value) ? Number(value) : value)
    const values = ['', ' 5', '5 ', '9'.repeat(20), ...'5 0 -1 5.0 1e1 0x10 true null % \\ ('.split(' ')]
    return [
      ...[...values, `${CANARY}\0`, `${CANARY}\u202e`, CANARY.padEnd(300, 'x')].map((value) =>
        attack(text(value).slice(0, 30), name, encodeURIComponent(value), judge(value) && !isUnstorable(value)),
      ),
      attack('twice', name, `5&${name}=${CANARY}`, false),
      attack('as a list', `${name}[]`, CANARY, true),
      { ...attack('bytes that are no text', name, '%ff%fe', true), isValid: isInteger ? false : undefined },
    ]
  })
}

/** Each id of the path in forms that are no UUID. PostgreSQL itself would take some of them. */
export function pathAttacks({ path: template }: Operation, input: () => Input): Attack[] {
  const forms: Record<string, (id: string) => string> = {
    'a word': () => `zz-${CANARY}`,
    'in braces': (id) => `%7B${id}%7D`,
    'without hyphens': (id) => id.replaceAll('-', ''),
    'without one hyphen': (id) => id.replace('-', ''),
    'with a NUL': (id) => `${id}%00`,
    'only a NUL': () => '%00',
    'with a space': (id) => `%20${id}`,
    'with a line feed': (id) => `${id}%0a`,
    'as a URN': (id) => `urn:uuid:${id}`,
    'an encoded way out': (id) => `..%2f${id}`,
    'one digit short': (id) => id.slice(0, -1),
    'a letter that is no digit': (id) => `g${id.slice(1)}`,
    'digits of another script': (id) => `%EF%BC%91${id.slice(1)}`,
    'a number': () => '1',
    'an apostrophe': (id) => `${id}'`,
  }
  const { params, body } = input()
  return Object.keys(params).flatMap((name) =>
    Object.entries(forms).map(([label, make]) => ({
      label: `{${name}} ${label}`,
      path: pathTo(template, { ...params, [name]: make(params[name] as string) }),
      sending: body === undefined ? {} : { json: body },
      isValid: false,
    })),
  )
}
