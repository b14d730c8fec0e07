import type { EventKind } from '@lockstep/contract'
import type { FullBoard } from '@lockstep/contract/boards'
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
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../core/authorize.ts'
import type { BoardVersion } from '../core/board-version.ts'
import type { BeforeCommit } from '../core/change-board.ts'
import type { Emit } from '../core/event-log.ts'
import type { Growth } from '../core/quotas.ts'
import type { Db } from '../database/database.ts'
import type { Download } from './files/download.ts'
import type { UploadedFile } from './files/upload.ts'
import type { PreparedResponse } from './json-response.ts'

/** What the handler of a public operation receives. */
export interface PublicContext<O extends Operation> {
  /** The transaction of a change; the pool otherwise. */
  db: Db
  params: Params<O>
  query: Query<O>
  body: O extends { body_type: 'upload' } ? Omit<Body<O>, 'file'> & { file: UploadedFile } : Body<O>
  request: FastifyRequest
  reply: FastifyReply
}
export interface CallerContext<O extends Operation> extends PublicContext<O> {
  caller: Caller
}
export interface BoardContext<O extends Operation> extends CallerContext<O> {
  board_id: string
}
export interface LoadContext<O extends Operation> extends BoardContext<O> {
  /** The version of the board at the access check. */
  version: BoardVersion
}
export interface ChangeContext<O extends Operation> extends BoardContext<O> {
  db: Db
  /** The id of the created resource: the client's own, or a new one. */
  newId: string
  /** The time of the change, by the database's clock. */
  at: string
  /** The number of a new card. */
  nextCardNumber: number
  /** Counts what the change does without an event. */
  grow: (growth: Growth) => void
  emit: Emit<Extract<Emits<O>, EventKind>>
  beforeCommit: BeforeCommit
}
export type HandlerContext<O extends Operation> = O extends { emits: readonly string[] }
  ? ChangeContext<O>
  : O['access'] extends BoardAccess
    ? Returns<O> extends FullBoard
      ? LoadContext<O>
      : BoardContext<O>
    : O['access'] extends 'authenticated' | 'superuser'
      ? CallerContext<O>
      : PublicContext<O>

/** An object of the contract, its JSON text, a prepared response, or a file. */
type Result<O extends Operation> =
  Returns<O> extends Blob ? Download : Returns<O> | JsonText<Returns<O>> | PreparedResponse

/** What a prefetch may use: it runs before the caller is authorized, so it only reads. */
type PrefetchContext<O extends Operation> = Pick<ChangeContext<O>, 'board_id' | 'params' | 'body'> & {
  db: Db
  /** The user whom the credential names. */
  user_id: string
}

/** A change with a read phase. Made by `withPrefetch`, which checks that both agree on what was prefetched. */
interface PrefetchingHandler<O extends Operation> {
  prefetch: (context: PrefetchContext<O>) => Promise<unknown>
  handle: (context: HandlerContext<O>, prefetched: never) => Promise<Result<O>>
}
type Handler<O extends Operation> =
  | ((context: HandlerContext<O>) => Promise<Result<O>>)
  | (O extends { emits: readonly string[] } ? PrefetchingHandler<O> : never)
export type Handlers<Ops extends Record<string, Operation>> = { [N in keyof Ops]: Handler<Ops[N]> }

/**
 * For changes that users wait for most. `prefetch` reads in the same round trip that locks the board, so that `handle`
 * decides without a further read.
 */
export const withPrefetch = <O extends Operation, P>(
  prefetch: (context: PrefetchContext<O>) => Promise<P>,
  handle: (context: HandlerContext<O>, prefetched: P) => Promise<Result<O>>,
): PrefetchingHandler<O> => ({ prefetch, handle })

/** A handler as the routes call it: the types of its operation were checked where it was defined. */
export interface AnyHandler {
  prefetch?: (context: object) => Promise<unknown>
  handle: (context: object, prefetched?: unknown) => Promise<unknown>
}
export const anyHandler = (handler: unknown): AnyHandler =>
  typeof handler === 'function' ? { handle: handler as AnyHandler['handle'] } : (handler as AnyHandler)
