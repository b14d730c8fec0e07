import { createHash } from 'node:crypto'
import type { EventKind } from '@lockstep/contract'
import { FullBoard } from '@lockstep/contract/boards'
import {
  type BoardAccess,
  type Body,
  Bytes,
  type Emits,
  type JsonText,
  type Operation,
  type Params,
  type Query,
  type Returns,
} from '@lockstep/contract/operation'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type TObject } from 'typebox'
import { v7 as newUuid } from 'uuid'
import { type Approach, approachBoard, type Caller, type Entry, readStoredBody, type Threshold } from '../core/authorize.ts'
import { aside, placeOf } from './edge/admission-middleware.ts'
import { authenticate } from './authenticate.ts'
import type { BoardVersion } from '../core/board-version.ts'
import { type Answer, answerAgain, type Change, type Core, changeBoard, type Emit, toJson } from '../core/change-board.ts'
import type { ChangeCost, ChangePacer } from '../core/change-pacer.ts'
import { networkOf } from '../platform/client-address.ts'
import type { Db, Tx } from '../database/database.ts'
import { type Download, sendDownload } from './files/download.ts'
import { problemOf } from './error-handler.ts'
import { etagOf } from './etag.ts'
import type { FairShare, UserAndAddressShare } from '../platform/fair-share.ts'
import { inputReader, invalid, readableQuery } from './validation.ts'
import { JSON_TYPE, type Prepared, sendJson, textLength } from './json-response.ts'
import type { Limits } from '../security/rate-limits.ts'
import { precondition, type Representations } from './precondition.ts'
import { Problem } from '../platform/problem.ts'
import { bodyLimitOf, bodyWithin, leaveBodies, readBody } from './request-body.ts'
import type { Semaphore } from '../platform/semaphore.ts'
import type { Tokens } from '../security/tokens.ts'
import { deskAt, fingerprintOfUpload, nowhere, type Received, receiveUpload, type UploadedFile } from './files/upload.ts'

/** What a handler of a public operation is given. */
export interface PublicWork<O extends Operation> {
  /** The transaction of a change; the pool otherwise. */
  db: Db
  params: Params<O>
  query: Query<O>
  body: O extends { body_type: 'upload' } ? Omit<Body<O>, 'file'> & { file: UploadedFile } : Body<O>
  request: FastifyRequest
  reply: FastifyReply
}
export interface CallerWork<O extends Operation> extends PublicWork<O> {
  caller: Caller
}
export interface BoardWork<O extends Operation> extends CallerWork<O> {
  board_id: string
}
export interface LoadWork<O extends Operation> extends BoardWork<O> {
  /** The state of the board as the caller entered it. */
  version: BoardVersion
}
export interface ChangeWork<O extends Operation> extends BoardWork<O> {
  db: Tx
  /** The id of what is created: the client's own, or a new one. */
  new_id: string
  /** The moment of the change, by the database's clock. */
  at: string
  emit: Emit<Extract<Emits<O>, EventKind>>
}
export type Work<O extends Operation> = O extends { emits: readonly string[] }
  ? ChangeWork<O>
  : O['access'] extends BoardAccess
    ? Returns<O> extends FullBoard
      ? LoadWork<O>
      : BoardWork<O>
    : O['access'] extends 'authenticated' | 'superuser'
      ? CallerWork<O>
      : PublicWork<O>

/** An object of the contract, its JSON text, that text packed for sending, or a file. */
type Result<O extends Operation> = Returns<O> extends Blob ? Download : Returns<O> | JsonText<Returns<O>> | Prepared
type Handler<O extends Operation> = (work: Work<O>) => Promise<Result<O>>
export type Handlers<Ops extends Record<string, Operation>> = { [N in keyof Ops]: Handler<Ops[N]> }

/** What a change can ask for while it waits for its board. */
type AskWork<O extends Operation> = Pick<ChangeWork<O>, 'board_id' | 'params' | 'body'> & { db: Db }

/**
 * A handler in two halves, for changes that many wait for: what `ask` reads travels together with the lock of the board, so
 * that `act` decides without asking, and its writes can travel together with COMMIT.
 */
export const askFirst = <O extends Operation, Asked>(
  ask: (work: AskWork<O>) => Promise<Asked>,
  act: (work: Work<O>, asked: Asked) => Promise<Result<O>>,
): Handler<O> =>
  Object.assign((work: Work<O>) => act(work, (work as unknown as { asked: Asked }).asked), { ask }) as Handler<O>

export interface ServeDeps {
  core: Core
  tokens: Tokens
  limits: Limits
  isOwnOrigin: (request: FastifyRequest) => boolean
  /** What things look like to a member: what `If-Match` is held against. */
  representations: Representations
  /** How long a body that is no upload may take to arrive. */
  body_seconds: number
  /** The bodies of public operations that are awaited at once, by address. */
  unauthenticated_bodies: FairShare
  /** Lists, histories, searches, and objects of boards with much text: what one of them reads can be large. */
  lists: Semaphore | undefined
  /** Paces large changes; undefined when there are no shares. */
  change_pacer: ChangePacer | undefined
  /** What each user may hold while others wait; undefined when there are no shares. */
  shares: UserShares | undefined
}

/** What each user may hold of what all share. */
export interface UserShares {
  requests: FairShare
  uploads: UserAndAddressShare
  response_bytes: UserAndAddressShare
}

/** The path as the client wrote it, for links that lead on from it. */
export const pathOf = (request: FastifyRequest) => request.originalUrl.split('?')[0] as string

type AnyHandler = ((work: Record<string, unknown>) => Promise<unknown>) & {
  ask?: (work: Record<string, unknown>) => Promise<unknown>
}

/**
 * Turns contract operations into routes. Before the body is even read: who is it (401), is the path well formed (422), is
 * there such a thing (404), may he (403), has he had enough (429). Then the payload (422), and only then the handler.
 */
export function serve<Ops extends Record<string, Operation>>(
  app: FastifyInstance,
  deps: ServeDeps,
  operations: Ops,
  handlers: Handlers<Ops>,
) {
  for (const [name, operation] of Object.entries(operations)) {
    const handle = handlers[name] as unknown as AnyHandler
    const isUpload = operation.body_type === 'upload'
    const route = {
      method: operation.method,
      url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      ...(!isUpload && { bodyLimit: bodyLimitOf(operation) }),
      ...(!isUpload &&
        bodyWithin(deps.body_seconds, operation.access === 'public' ? deps.unauthenticated_bodies : undefined)),
      ...routeOf(deps, operation, handle),
    }
    if (!isUpload) app.route(route)
    else
      app.register(async (scope) => {
        leaveBodies(scope)
        scope.route(route)
      })
  }
}

/** What is known of a request before its body is read. */
interface Arrival {
  params: Record<string, string>
  approach: Approach
  threshold: Threshold
  /** The board that was entered, if the operation has one. */
  entry?: Entry
}
/** A file that was received for a change, and what is called when COMMIT is sent. */
interface Uploaded {
  upload?: Received
  committing?: () => void
}
/** A change while it is made. */
interface Changing extends Uploaded {
  arrival: Arrival
  request: FastifyRequest
  reply: FastifyReply
  cost: ChangeCost
}
const ARRIVAL = Symbol('arrival')
type Arrived = FastifyRequest & { [ARRIVAL]?: Arrival }
const arrivalOf = (request: Arrived) => request[ARRIVAL]

function routeOf(deps: ServeDeps, operation: Operation, handle: AnyHandler) {
  const { core, tokens, limits, isOwnOrigin, lists, change_pacer, shares } = deps
  const { access, method, params, query, body, body_type = 'json', returns, emits } = operation
  const readParams = params && inputReader<Record<string, string>>(params)
  const readQuery = query && inputReader(query)
  const readFields = body && inputReader(body_type === 'upload' ? withoutFile(body as TObject) : body)
  const board_access = typeof access === 'string' ? undefined : access
  const isWrite = emits !== undefined
  const is_load = returns.schema === FullBoard
  const is_list = (returns.schema as { type?: string }).type === 'array'
  /** Whether one object of the board can be so large that only a few are read at once. Full boards have a queue of their own. */
  const mayBeLarge = (entry: Entry | undefined) =>
    !is_load && returns.schema !== Bytes && (entry?.text_bytes ?? 0) > LARGE_TEXT_BYTES

  const arrive = async (request: Arrived) => {
    const credential = await authenticate(request, tokens, isOwnOrigin)
    if (shares) placeOf(request)?.hold(demandShare(shares.requests.claim(credential.user_id)))
    const path = attempt(() => readParams?.(request.params) ?? {})
    const key = attempt(() => (isWrite ? idempotencyKey(request) : null))
    const ids = path.value ?? {}
    const approach: Approach = {
      credential,
      target_id: (board_access && ids[`${board_access.on}_id`]) ?? null,
      key: key.value ?? null,
      is_load: is_load && path.value !== undefined,
      ...(board_access && path.value && { access: board_access }),
      ...(ids['user_id'] && { self_id: ids['user_id'] }),
    }
    const [threshold, excess] = await Promise.all([
      approachBoard(core.database.forKey(credential.user_id), approach),
      limits.request(credential.user_id, request.ip),
    ])
    if (path.problem) throw path.problem
    if (access === 'superuser') threshold.demandSuperuser()
    // A retry is answered as the first time, also when what it was about is gone by now.
    const entry = board_access && !threshold.answer ? threshold.enter() : undefined
    if (excess) throw excess
    if (key.problem) throw key.problem
    request[ARRIVAL] = { params: ids, approach, threshold, ...(entry && { entry }) }
  }

  const inputsOf = (request: FastifyRequest, upload?: Received) => ({
    query: readQuery?.(readableQuery(query as TObject, request.query as Record<string, unknown>)) ?? {},
    body: upload
      ? { ...(readFields?.(upload.fields) as object), file: upload.file }
      : readFields?.(readBody(request, body_type as 'json' | 'form')),
    request,
  })

  const change = (request: FastifyRequest, reply: FastifyReply, uploaded: Uploaded = {}): Promise<Answer> => {
    const arrival = arrivalOf(request) as Arrival
    const act = (cost: ChangeCost) => changeOnce({ arrival, request, reply, cost, ...uploaded })
    if (!change_pacer) return act({ bytes: 0, board_bytes: 0 })
    const board_bytes = arrival.entry?.text_bytes ?? 0
    return change_pacer.run(arrival.approach.credential.user_id, { board_bytes, place: placeOf(request) }, act)
  }

  const changeOnce = async ({ arrival, request, reply, cost, upload, committing }: Changing) => {
    const { params: ids, approach, threshold, entry } = arrival
    const identity = approach.key === null ? null : { key: approach.key, fingerprint: fingerprintOf(request, upload) }
    if (threshold.answer) return answerAgain(threshold.answer, identity)
    const inputs = inputsOf(request, upload)
    const new_id = (inputs.body as { id?: string | null } | undefined)?.id ?? newUuid()
    const demandUnchanged = precondition(deps.representations, operation, request, ids)
    const board_id = entry?.board_id ?? new_id
    const work: Change['work'] = async ({ tx, entry: { caller, at }, emit, asked }) => {
      await demandUnchanged?.(tx, board_id, cost)
      const result = await handle({ ...inputs, db: tx, params: ids, caller, board_id, at, new_id, emit, reply, asked })
      return { status: returns.status, body: asText(result) }
    }
    const { ask } = handle
    return changeBoard(core, {
      approach,
      board_id,
      is_new: entry === undefined,
      is_removal: method === 'DELETE',
      request: identity,
      place: placeOf(request),
      cost,
      committing,
      ...(ask && { ask: (db) => ask({ ...inputs, db, params: ids, board_id }) }),
      work,
    })
  }

  /** A file is taken in before the board's turn comes. A retry is only read, to see whether it is the same. */
  const changeWithUpload = async (request: FastifyRequest, reply: FastifyReply): Promise<Answer> => {
    const { entry, approach } = arrivalOf(request) as Arrival
    const desk = entry ? deskAt(core.uploads, entry.board_id, approach.credential.user_id) : nowhere(core.uploads)
    const release = shares && demandShare(shares.uploads.claim(...claimantOf(request)))
    const upload = await aside(request, () => receiveUpload(request, reply, desk)).finally(release)
    let isCommitting = false
    const committing = () => {
      isCommitting = true
    }
    try {
      const answered = await change(request, reply, { upload, committing })
      if (answered.is_replay) await desk.drop(upload.file.file_id)
      return answered
    } catch (error) {
      // Nothing was committed if COMMIT was not sent or the change was rejected. Otherwise that is not certain, and the sweeper decides.
      if (!isCommitting || problemOf(error).status < 500) await desk.drop(upload.file.file_id)
      throw error
    }
  }

  const read = async (request: FastifyRequest, reply: FastifyReply) => {
    const arrival = arrivalOf(request)
    const inputs = inputsOf(request)
    const { params: ids = readParams?.(request.params) ?? {}, threshold, entry } = arrival ?? {}
    const caller = threshold?.caller
    const db = core.database.forKey(caller?.id ?? networkOf(request.ip))
    const work = { ...inputs, caller, board_id: entry?.board_id, version: entry?.version, db, params: ids, reply }
    if (!lists || !(is_list || mayBeLarge(entry))) return handle(work)
    return lists.runPaced(() => handle(work), textLength, { key: caller?.id, place: placeOf(request) })
  }

  const answerRead = async (request: FastifyRequest, reply: FastifyReply) => {
    const result = await read(request, reply)
    if (returns.schema === Bytes) return sendDownload(request, reply, result as Download)
    reply.code(returns.status)
    if (method !== 'GET') return sendText(reply, asText(result))
    reply.header('cache-control', 'private, no-cache')
    if (access === 'public') return sendText(reply, asText(result))
    return sendJson(request, reply, result, {
      reserve: (bytes) => demandMemory(request, reply, bytes),
      inTurn: (readPage, bytesOf) =>
        lists?.runPaced(readPage, bytesOf, { key: arrivalOf(request)?.approach.credential.user_id }) ?? readPage(),
    })
  }

  /**
   * Counts a large response against its user until it has been read: it stays in memory that long. Returns how to stop that
   * earlier; undefined when the user has no share left.
   */
  const reserve = (request: FastifyRequest, reply: FastifyReply, bytes: number): (() => void) | undefined => {
    if (!shares || bytes < LARGE_RESPONSE_BYTES) return () => {}
    const release = shares.response_bytes.claim(...claimantOf(request), bytes)
    // A client that hung up while the response was made has had its `close` already.
    if (!release || reply.raw.destroyed) {
      release?.()
      return release
    }
    reply.raw.once('close', release)
    return () => {
      reply.raw.off('close', release)
      release()
    }
  }
  const demandMemory = (request: FastifyRequest, reply: FastifyReply, bytes: number) =>
    demandShare(reserve(request, reply, bytes))

  /** The body of a replay that is large: read in turn, and counted before. */
  const storedBody = (request: FastifyRequest, reply: FastifyReply, bytes: number): Promise<string> => {
    demandMemory(request, reply, bytes)
    const { credential, key } = (arrivalOf(request) as Arrival).approach
    const read = () => readStoredBody(core.database.forKey(credential.user_id), credential.user_id, key ?? '')
    return lists?.runPaced(read, textLength, { key: credential.user_id, place: placeOf(request) }) ?? read()
  }

  const answerWrite = async (request: FastifyRequest, reply: FastifyReply) => {
    const answered = await (body_type === 'upload' ? changeWithUpload : change)(request, reply).catch((error) => {
      if (error instanceof Problem && error.current) demandMemory(request, reply, error.current.length)
      throw error
    })
    const { status, position, is_replay, large_body_bytes } = answered
    const text = large_body_bytes === null ? answered.body : await storedBody(request, reply, large_body_bytes)
    if (position !== null) reply.header('board-position', position)
    if (is_replay) reply.header('idempotent-replayed', 'true')
    // A large text is encoded once, for the hash and for the connection.
    const content = text === null || text.length < LARGE_RESPONSE_BYTES ? text : Buffer.from(text)
    if (content !== null) reply.header('etag', etagOf(content))
    // The change is committed, so it cannot be refused. A client that reads nothing loses its connection, and can send the request again.
    if (text !== null && large_body_bytes === null && !reserve(request, reply, text.length)) {
      reply.hijack()
      reply.raw.destroy()
      return reply
    }
    return sendText(reply.code(status), content)
  }

  /** Payloads of public operations that are rejected count for their address, and one too many is rejected unread. */
  const arriveUnknown = (request: FastifyRequest) => limits.badPayloads(request.ip).demand()
  const answerUnknown = async (request: FastifyRequest, reply: FastifyReply) => {
    try {
      return await answerRead(request, reply)
    } catch (error) {
      if (error instanceof Problem && error.status === 422) await limits.badPayloads(request.ip).report(false)
      throw error
    }
  }

  if (access !== 'public') return { onRequest: [arrive], handler: isWrite ? answerWrite : answerRead }
  return body ? { onRequest: [arriveUnknown], handler: answerUnknown } : { onRequest: [], handler: answerRead }
}

/** Objects of boards with less text than this are read without a queue, on all connections at once. */
const LARGE_TEXT_BYTES = 1_048_576
/** Smaller responses are bounded by how many requests may be open. */
const LARGE_RESPONSE_BYTES = 65_536

/** The user and the address that a share is claimed for. */
const claimantOf = (request: FastifyRequest): [user_id: string, address: string] => [
  arrivalOf(request)?.approach.credential.user_id ?? '',
  networkOf(request.ip),
]

/** Rejects with 503 when nothing was left to claim. */
function demandShare(release: (() => void) | undefined): () => void {
  if (!release) throw new Problem('overloaded')
  return release
}

/** The file is no field: it never comes as one value. */
const withoutFile = (body: TObject) => Type.Omit(body, ['file'])

const asText = (result: unknown) => (result === undefined ? null : toJson(result))

const sendText = (reply: FastifyReply, text: string | Buffer | null) =>
  text === null ? reply.send() : reply.type(JSON_TYPE).send(text)

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
function fingerprintOf(request: FastifyRequest, upload: Received | undefined): string {
  const path = (request.url.split('?')[0] as string).replace(/\/$/, '')
  return createHash('sha256')
    .update(`${request.method} ${path}\n`)
    .update(upload ? fingerprintOfUpload(upload) : ((request.body as Buffer | undefined) ?? ''))
    .digest('base64url')
}
