import { type Random, seeded } from '@lockstep/testing/random'
import type { DocumentedOperation } from './document.ts'
import { multipart, urlencoded } from './forms.ts'
import { type Framing, framings } from './framing.ts'
import { type KnownBoard, newId, type Person, type World } from './known-resources.ts'
import { badCredentials, goodCredential, type Header, oddHeaders, oddId, oddPath, oddQuery } from './tricks.ts'
import { asText, jsonText, spoilJson, textsOf, validFields, validValue } from './values.ts'

/** A request as it goes out, and what was done to it on purpose. */
export interface FuzzRequest {
  operation: DocumentedOperation
  method: string
  target: string
  headers: Header[]
  body: Buffer | undefined
  who: Person | undefined
  /** The board that it is about, when all of its path is of that board. */
  board: KnownBoard | undefined
  params: Record<string, string>
  tricks: Set<Trick>
  framing: Framing
}
/** What was bent. `body`: it does not fit the schema, or may not; `type`: it is sent under another name. */
export type Trick = 'credentials' | 'path' | 'method' | 'query' | 'headers' | 'body' | 'type' | 'framing'
/** Chances of one in so many that something is bent. */
const ODDS = { credentials: 30, path: 25, method: 60, query: 25, headers: 7, body: 3, framing: 40 }

/** One request for an operation: a valid one, bent here and there by chance. */
export function makeRequest(
  operation: DocumentedOperation,
  world: World,
  random: Random,
  { is_tame = false, who: asker }: { is_tame?: boolean; who?: Person | undefined } = {},
): FuzzRequest {
  const tricks = new Set<Trick>()
  const isBent = (trick: keyof typeof ODDS) => {
    const isIt = !is_tame && random.below(ODDS[trick]) === 0
    if (isIt) tricks.add(trick)
    return isIt
  }
  const board = world.boardFor(operation.path_fields, random)
  const place = { world, board, random }
  const params: Record<string, string> = {}
  for (const { name } of operation.path_fields) params[name] = world.idFor(name, board, random)
  const bent = isBent('path') ? random.pick([...Object.keys(params), undefined]) : undefined
  const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const id = params[name] as string
    return name === bent ? oddId(id, random) : id
  })
  const path = tricks.has('path') && bent === undefined ? oddPath(filled, random) : filled
  const queries = operation.query_fields
    .filter(({ is_required }) => is_required || random.below(3) === 0)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(asText(validValue(name, schema, place)))}`)
  if (isBent('query')) queries.push(oddQuery(random.pick(operation.query_fields)?.name ?? 'limit', random))
  const method = isBent('method')
    ? random.pick(['GET', 'HEAD', 'OPTIONS', 'PUT', 'POST', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY'])
    : operation.method

  const who = asker ?? whoAsks(world, board, random)
  const headers: Header[] = isBent('credentials')
    ? badCredentials(random, who.token)
    : [goodCredential(random, who.token)]
  headers.push(...documentedHeaders(operation, world, random))
  const { body, type } = bodyOf(operation, who, place, isBent('body'), tricks)
  if (type !== undefined) headers.push(['Content-Type', type])
  if (isBent('headers')) {
    const odd = oddHeaders(random, world)
    if (odd.some(([name]) => name === 'Content-Type' || name === 'Content-Encoding')) tricks.add('type')
    // Who asks for a socket asks for another address.
    if (odd.some(([, value]) => value === 'websocket')) tricks.add('path')
    headers.push(...odd)
  }
  const framing = isBent('framing') ? random.pick(framings) : 'whole'
  const target = queries.length > 0 ? `${path}?${queries.join('&')}` : path
  return { operation, method, target, headers, body, who, board, params, tricks, framing }
}

/** Mostly a member, often the first of them, who is an owner unless he was demoted. */
function whoAsks(world: World, board: KnownBoard | undefined, random: Random): Person {
  if (!board || random.below(12) === 0) return random.pick(world.people)
  return random.pick(random.below(3) === 0 ? board.people.slice(0, 1) : board.people)
}

function documentedHeaders({ header_fields }: DocumentedOperation, world: World, random: Random): Header[] {
  return header_fields.flatMap(({ name }): Header[] => {
    if (random.below(6) > 0) return []
    if (name === 'Range') return [[name, random.pick(['bytes=0-', 'bytes=0-1', 'bytes=-2'])]]
    if (name !== 'Idempotency-Key') return [[name, random.pick(world.tags)]]
    const key = random.below(3) === 0 && world.keys.length > 0 ? random.pick(world.keys) : newId(random)
    world.remember('keys', key)
    return [[name, key]]
  })
}

type Place = Parameters<typeof validFields>[1]
function bodyOf({ body, id }: DocumentedOperation, who: Person, place: Place, isSpoilt: boolean, tricks: Set<Trick>) {
  const { random } = place
  if (!body) {
    // A body where none belongs.
    if (isSpoilt && random.below(4) === 0) return { body: Buffer.from('{"x":1}'), type: 'application/json' }
    return { body: undefined, type: undefined }
  }
  let fields = { ...validFields(body.schema, place), ...fittingFields(id, who, place) }
  // Some fields must come together, or not be empty together.
  while (body.type === 'application/json' && !body.isValid(fields))
    fields = { ...fields, ...validFields(body.schema, place) }
  if (body.type !== 'application/json') {
    const make = body.type === 'multipart/form-data' ? multipart : urlencoded
    const { content, type } = make(fields, isSpoilt, random)
    return { body: content, type }
  }
  if (!isSpoilt) return { body: Buffer.from(jsonText(textsOf(fields))), type: body.type }
  const bytes = Buffer.from(spoilJson(body.schema, textsOf(fields), random))
  const dice = random.below(60)
  if (dice === 0) return { body: undefined, type: random.pick([body.type, undefined]) }
  if (dice === 1) return { body: Buffer.alloc(1_100_000, 'x'), type: body.type }
  if (dice < 4 && bytes.length > 2) {
    tricks.add('type')
    bytes[random.below(bytes.length)] = random.pick([0xff, 0xc0, 0x80, 0xed])
  }
  return { body: bytes, type: body.type }
}

/** A valid request with these fields; an upload brings a small file of its own. */
export function plainRequest(
  operation: DocumentedOperation,
  who: Person,
  params: Record<string, string>,
  fields: object | undefined,
): FuzzRequest {
  const target = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] as string)
  const headers: Header[] = [['Authorization', `Bearer ${who.token}`]]
  const form = operation.body?.type === 'multipart/form-data' ? multipart({ ...fields }, false, seeded(1)) : undefined
  const body = form?.content ?? (fields && Buffer.from(JSON.stringify(fields)))
  if (body) headers.push(['Content-Type', form?.type ?? 'application/json'])
  const { method } = operation
  return {
    operation,
    method,
    target,
    headers,
    body,
    who,
    board: undefined,
    params,
    tricks: new Set(),
    framing: 'whole',
  }
}

/** What must be right among the fields for anything to happen: passwords, and what a rule is about. */
function fittingFields(operation: string, { email, password }: Person, { world, board, random }: Place): object {
  const fresh = `hush-hush fuzz ${random.below(1e9)}`
  const idOf = (name: string) => world.idFor(name, board, random)
  switch (operation) {
    case 'login':
      return { username: email, password }
    case 'register':
      return { password: fresh }
    case 'changePassword':
      return { current_password: password, new_password: fresh }
    case 'createRule':
    case 'updateRule':
      return {
        ...random.pick([
          { trigger_type: 'CARD_MOVED', trigger_column_id: idOf('column_id') },
          { trigger_type: 'LABEL_ADDED', trigger_label_id: idOf('label_id') },
        ]),
        ...random.pick([
          { action_type: 'MOVE_TO_COLUMN', action_column_id: idOf('column_id') },
          { action_type: 'ASSIGN_MEMBER', action_user_id: random.pick(board?.people ?? world.people).id },
        ]),
      }
    default:
      return {}
  }
}

/** The request in a form that a person can send again. */
export function describe({ method, target, headers, body, framing, tricks }: FuzzRequest): string {
  const shown = headers.map(
    ([name, value]) => `-H ${JSON.stringify(`${name}: ${value.replace(/eyJ[\w.-]+/, '<token>').slice(0, 120)}`)}`,
  )
  const content = body
    ? [
        `--data-binary ${JSON.stringify(body.toString('latin1').slice(0, 300))}${body.length > 300 ? `… (${body.length} bytes)` : ''}`,
      ]
    : []
  const bent = tricks.size > 0 ? [`# ${[...tricks].join(', ')}${framing === 'whole' ? '' : `, ${framing}`}`] : []
  return [`curl -X ${method} ${JSON.stringify(target.slice(0, 300))}`, ...shown, ...content, ...bent].join(' ')
}
