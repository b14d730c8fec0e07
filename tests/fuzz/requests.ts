import { type Random, seeded } from '@lockstep/testing/random'
import type { DocumentedOperation } from './document.ts'
import { multipart, urlencoded } from './forms.ts'
import { type Framing, framings } from './framing.ts'
import { type FuzzUser, type KnownBoard, type KnownResources, newId } from './known-resources.ts'
import { badCredentials, goodCredential, type Header, oddHeaders, oddId, oddPath, oddQuery } from './mutations.ts'
import { asText, jsonText, spoilJson, textsOf, validFields, validValue } from './values.ts'

/** A request, and how it was mutated. */
export interface FuzzRequest {
  operation: DocumentedOperation
  method: string
  target: string
  headers: Header[]
  body: Buffer | undefined
  who: FuzzUser | undefined
  /** The board that it is about, when all of its path is of that board. */
  board: KnownBoard | undefined
  params: Record<string, string>
  mutations: Set<Mutation>
  framing: Framing
}
/** The mutated parts. `body`: it may not match the schema; `type`: another content type. */
export type Mutation = 'credentials' | 'path' | 'method' | 'query' | 'headers' | 'body' | 'type' | 'framing'
/** One in this many requests has this mutation. */
const ODDS = { credentials: 30, path: 25, method: 60, query: 25, headers: 7, body: 3, framing: 40 }

/** One request for an operation: a valid one, bent here and there by chance. */
export function makeRequest(
  operation: DocumentedOperation,
  known: KnownResources,
  random: Random,
  { isValidOnly = false, who: asker }: { isValidOnly?: boolean; who?: FuzzUser | undefined } = {},
): FuzzRequest {
  const mutations = new Set<Mutation>()
  const isBent = (mutation: keyof typeof ODDS) => {
    const isIt = !isValidOnly && random.below(ODDS[mutation]) === 0
    if (isIt) mutations.add(mutation)
    return isIt
  }
  const board = known.boardFor(operation.pathFields, random)
  const place = { known, board, random }
  const params: Record<string, string> = {}
  for (const { name } of operation.pathFields) params[name] = known.idFor(name, board, random)
  const bent = isBent('path') ? random.pick([...Object.keys(params), undefined]) : undefined
  const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const id = params[name] as string
    return name === bent ? oddId(id, random) : id
  })
  const path = mutations.has('path') && bent === undefined ? oddPath(filled, random) : filled
  const queries = operation.queryFields
    .filter(({ isRequired }) => isRequired || random.below(3) === 0)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(asText(validValue(name, schema, place)))}`)
  if (isBent('query')) queries.push(oddQuery(random.pick(operation.queryFields)?.name ?? 'limit', random))
  const method = isBent('method')
    ? random.pick(['GET', 'HEAD', 'OPTIONS', 'PUT', 'POST', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY'])
    : operation.method

  const who = asker ?? whoAsks(known, board, random)
  const headers: Header[] = isBent('credentials')
    ? badCredentials(random, who.token)
    : [goodCredential(random, who.token)]
  headers.push(...documentedHeaders(operation, known, random))
  const { body, type } = bodyOf(operation, who, place, isBent('body'), mutations)
  if (type !== undefined) headers.push(['Content-Type', type])
  if (isBent('headers')) {
    const odd = oddHeaders(random, known)
    if (odd.some(([name]) => name === 'Content-Type' || name === 'Content-Encoding')) mutations.add('type')
    // A WebSocket handshake has another address.
    if (odd.some(([, value]) => value === 'websocket')) mutations.add('path')
    headers.push(...odd)
  }
  const framing = isBent('framing') ? random.pick(framings) : 'whole'
  const target = queries.length > 0 ? `${path}?${queries.join('&')}` : path
  return { operation, method, target, headers, body, who, board, params, mutations, framing }
}

/** Mostly a member, often the first one, who is an owner unless demoted. */
function whoAsks(known: KnownResources, board: KnownBoard | undefined, random: Random): FuzzUser {
  if (!board || random.below(12) === 0) return random.pick(known.users)
  return random.pick(random.below(3) === 0 ? board.members.slice(0, 1) : board.members)
}

function documentedHeaders({ headerFields }: DocumentedOperation, known: KnownResources, random: Random): Header[] {
  return headerFields.flatMap(({ name }): Header[] => {
    if (random.below(6) > 0) return []
    if (name === 'Range') return [[name, random.pick(['bytes=0-', 'bytes=0-1', 'bytes=-2'])]]
    if (name !== 'Idempotency-Key') return [[name, random.pick(known.tags)]]
    const key = random.below(3) === 0 && known.keys.length > 0 ? random.pick(known.keys) : newId(random)
    known.remember('keys', key)
    return [[name, key]]
  })
}

type Place = Parameters<typeof validFields>[1]
function bodyOf(
  { body, id }: DocumentedOperation,
  who: FuzzUser,
  place: Place,
  isBroken: boolean,
  mutations: Set<Mutation>,
) {
  const { random } = place
  if (!body) {
    // A body where none belongs.
    if (isBroken && random.below(4) === 0) return { body: Buffer.from('{"x":1}'), type: 'application/json' }
    return { body: undefined, type: undefined }
  }
  let fields = { ...validFields(body.schema, place), ...fittingFields(id, who, place) }
  // Some fields are required together, or must not be empty together.
  while (body.type === 'application/json' && !body.isValid(fields))
    fields = { ...fields, ...validFields(body.schema, place) }
  if (body.type !== 'application/json') {
    const make = body.type === 'multipart/form-data' ? multipart : urlencoded
    const { content, type } = make(fields, isBroken, random)
    return { body: content, type }
  }
  if (!isBroken) return { body: Buffer.from(jsonText(textsOf(fields))), type: body.type }
  const bytes = Buffer.from(spoilJson(body.schema, textsOf(fields), random))
  const dice = random.below(60)
  if (dice === 0) return { body: undefined, type: random.pick([body.type, undefined]) }
  if (dice === 1) return { body: Buffer.alloc(1_100_000, 'x'), type: body.type }
  if (dice < 4 && bytes.length > 2) {
    mutations.add('type')
    bytes[random.below(bytes.length)] = random.pick([0xff, 0xc0, 0x80, 0xed])
  }
  return { body: bytes, type: body.type }
}

/** A valid request with these fields. An upload contains a small file. */
export function plainRequest(
  operation: DocumentedOperation,
  who: FuzzUser,
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
    mutations: new Set(),
    framing: 'whole',
  }
}

/** Fields that must be consistent for a success: passwords, and the references of a rule. */
function fittingFields(operation: string, { email, password }: FuzzUser, { known, board, random }: Place): object {
  const fresh = `hush-hush fuzz ${random.below(1e9)}`
  const idOf = (name: string) => known.idFor(name, board, random)
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
          { action_type: 'ASSIGN_MEMBER', action_user_id: random.pick(board?.members ?? known.users).id },
        ]),
      }
    default:
      return {}
  }
}

/** The request in a form that can be repeated by hand. */
export function describe({ method, target, headers, body, framing, mutations }: FuzzRequest): string {
  const shown = headers.map(
    ([name, value]) => `-H ${JSON.stringify(`${name}: ${value.replace(/eyJ[\w.-]+/, '<token>').slice(0, 120)}`)}`,
  )
  const content = body
    ? [
        `--data-binary ${JSON.stringify(body.toString('latin1').slice(0, 300))}${body.length > 300 ? `… (${body.length} bytes)` : ''}`,
      ]
    : []
  const bent = mutations.size > 0 ? [`# ${[...mutations].join(', ')}${framing === 'whole' ? '' : `, ${framing}`}`] : []
  return [`curl -X ${method} ${JSON.stringify(target.slice(0, 300))}`, ...shown, ...content, ...bent].join(' ')
}
