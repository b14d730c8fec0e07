import { createHash } from 'node:crypto'
import type { EventKind } from '@lockstep/contract'
import type {
  BoardAccess,
  Body,
  Emits,
  JsonText,
  Operation,
  Params,
  Query,
  Returns,
} from '@lockstep/contract/operation'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import { v7 as newUuid } from 'uuid'
import { type Approach, approachBoard, type Caller, type Entry, type Threshold } from './access.ts'
import { authenticate } from './authenticate.ts'
import { type Answer, answerAgain, type Change, type Core, changeBoard, type Emit, toJson } from './change.ts'
import type { Db } from './database.ts'
import { inputReader, invalid, readableQuery } from './input.ts'
import { readBody } from './request-body.ts'
import type { Tokens } from './tokens.ts'

/** What a handler of a public operation is given. */
export interface PublicWork<O extends Operation> {
  /** The transaction of a change; the pool otherwise. */
  db: Db
  params: Params<O>
  query: Query<O>
  body: Body<O>
  request: FastifyRequest
  reply: FastifyReply
}
export interface CallerWork<O extends Operation> extends PublicWork<O> {
  caller: Caller
}
export interface BoardWork<O extends Operation> extends CallerWork<O> {
  board_id: string
}
export interface ChangeWork<O extends Operation> extends BoardWork<O> {
  /** The id of what is created: the client's own, or a new one. */
  new_id: string
  /** The moment of the change, by the database's clock. */
  at: string
  emit: Emit<Extract<Emits<O>, EventKind>>
}
export type Work<O extends Operation> = O extends { emits: readonly string[] }
  ? ChangeWork<O>
  : O['access'] extends BoardAccess
    ? BoardWork<O>
    : O['access'] extends 'authenticated'
      ? CallerWork<O>
      : PublicWork<O>

/** An object of the contract, or the JSON text of one. */
export type Handlers<Ops extends Record<string, Operation>> = {
  [N in keyof Ops]: (work: Work<Ops[N]>) => Promise<Returns<Ops[N]> | JsonText<Returns<Ops[N]>>>
}

export interface ServeDeps {
  core: Core
  tokens: Tokens
  isOwnOrigin: (request: FastifyRequest) => boolean
}

/** The path as the client wrote it, for links that lead on from it. */
export const pathOf = (request: FastifyRequest) => request.originalUrl.split('?')[0] as string

type AnyHandler = (work: Record<string, unknown>) => Promise<unknown>

/**
 * Turns contract operations into routes. Before the body is even read: who is it (401), is the path well formed (422), is
 * there such a thing (404), may he (403). Then the payload (422), and only then the handler.
 */
export function serve<Ops extends Record<string, Operation>>(
  app: FastifyInstance,
  deps: ServeDeps,
  operations: Ops,
  handlers: Handlers<Ops>,
) {
  for (const [name, operation] of Object.entries(operations)) {
    const handle = handlers[name] as unknown as AnyHandler
    const { onRequest, handler } = routeOf(deps, operation, handle)
    app.route({ method: operation.method, url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'), onRequest, handler })
  }
}

interface Arrival {
  params: Record<string, string>
  approach: Approach
  threshold: Threshold
  entry: Entry | undefined
}
const arrivals = new WeakMap<FastifyRequest, Arrival>()

function routeOf({ core, tokens, isOwnOrigin }: ServeDeps, operation: Operation, handle: AnyHandler) {
  const { access, method, params, query, body, body_type = 'json', returns, emits } = operation
  const readParams = params && inputReader<Record<string, string>>(params)
  const readQuery = query && inputReader(query)
  const readFields = body && inputReader(body)
  const board_access = typeof access === 'string' ? undefined : access
  const isWrite = emits !== undefined

  const arrive = async (request: FastifyRequest) => {
    const credential = await authenticate(request, tokens, isOwnOrigin)
    const path = attempt(() => readParams?.(request.params) ?? {})
    const key = attempt(() => (isWrite ? idempotencyKey(request) : null))
    const ids = path.value ?? {}
    const approach: Approach = {
      credential,
      target_id: (board_access && ids[`${board_access.on}_id`]) ?? null,
      key: key.value ?? null,
      ...(board_access && path.value && { access: board_access }),
      ...(ids['user_id'] && { self_id: ids['user_id'] }),
    }
    const threshold = await approachBoard(core.database, approach)
    if (path.problem) throw path.problem
    // A retry is answered as the first time, also when what it was about is gone by now.
    const entry = board_access && !threshold.answer ? threshold.enter() : undefined
    if (key.problem) throw key.problem
    arrivals.set(request, { params: ids, approach, threshold, entry })
  }

  const inputsOf = (request: FastifyRequest) => ({
    query: readQuery?.(readableQuery(query as TObject, request.query as Record<string, unknown>)) ?? {},
    body: readFields?.(readBody(request, body_type)),
    request,
  })

  const change = async (request: FastifyRequest, reply: FastifyReply): Promise<Answer> => {
    const { params: ids, approach, threshold, entry } = arrivals.get(request) as Arrival
    const identity = approach.key === null ? null : { key: approach.key, fingerprint: fingerprintOf(request) }
    if (threshold.answer) return answerAgain(threshold.answer, identity)
    const inputs = inputsOf(request)
    const new_id = (inputs.body as { id?: string | null } | undefined)?.id ?? newUuid()
    const work: Change['work'] = async ({ tx, entry: { caller, board_id, at }, emit }) => ({
      status: returns.status,
      body: asText(await handle({ ...inputs, db: tx, params: ids, caller, board_id, at, new_id, emit, reply })),
    })
    return changeBoard(core, { approach, board_id: entry?.board_id ?? new_id, is_new: !entry, request: identity, work })
  }

  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<Answer> => {
    const arrival = arrivals.get(request)
    const inputs = inputsOf(request)
    const { params: ids = readParams?.(request.params) ?? {}, threshold, entry } = arrival ?? {}
    const who = { caller: threshold?.caller, board_id: entry?.board_id }
    const result = await handle({ ...inputs, ...who, db: core.database, params: ids, reply })
    return { status: returns.status, body: asText(result), position: null, is_replay: false }
  }

  return {
    onRequest: access === 'public' ? [] : [arrive],
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const { status, body: text, position, is_replay } = await (isWrite ? change : answer)(request, reply)
      if (position !== null) reply.header('board-position', position)
      if (is_replay) reply.header('idempotent-replayed', 'true')
      if (method === 'GET') reply.header('cache-control', 'private, no-cache')
      reply.code(status)
      return text === null ? reply.send() : reply.type('application/json; charset=utf-8').send(text)
    },
  }
}

const asText = (result: unknown) => (result === undefined ? null : toJson(result))

function attempt<T>(read: () => T): { value?: T; problem?: unknown } {
  try {
    return { value: read() }
  } catch (problem) {
    return { problem }
  }
}

function idempotencyKey(request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key
  throw invalid([{ field: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }])
}

/** What makes a request the same request: method, path and content. */
function fingerprintOf(request: FastifyRequest): string {
  const path = (request.url.split('?')[0] as string).replace(/\/$/, '')
  return createHash('sha256')
    .update(`${request.method} ${path}\n`)
    .update((request.body as Buffer | undefined) ?? '')
    .digest('base64url')
}
