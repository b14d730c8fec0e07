import { sql } from 'kysely'
import { type Db, statement } from '../database/database.ts'
import { Problem } from '../platform/problem.ts'

/** The Idempotency-Key of a request, and a hash that tells a retry from another request with the same key. */
export interface RequestIdentity {
  key: string
  fingerprint: string
}

/** The response to an earlier request with the same Idempotency-Key. */
export interface StoredResponse {
  fingerprint: string
  status: number
  /** JSON text; null for a response without a body, and for a large one. */
  body: string | null
  position: string | null
  /** Size of a body that is not read together with the caller, because many requests with its key could hold it at once. */
  large_body_bytes: number | null
}
/** Larger bodies are read later, by `readStoredBody`. */
export const LARGE_BODY_BYTES = 65_536

export interface WriteResponse {
  status: number
  /** JSON text, or null for a response without a body. */
  body: string | null
  /** The board's position after the change: `<epoch>.<seq>`. */
  position: string | null
  isReplay: boolean
  /** Size of the body of a replay that was not read yet. */
  large_body_bytes: number | null
}

/** The response of the first request with this key, if this is a retry of it. */
export function replayResponse(
  { fingerprint, ...stored }: StoredResponse,
  identity: RequestIdentity | null,
): WriteResponse {
  if (identity?.fingerprint !== fingerprint) throw new Problem('idempotency_key_reused')
  return { ...stored, isReplay: true }
}

/** Constraints that two concurrent requests with one key violate: on two boards, or while creating the same board. */
export const idempotencyConflicts = ['stored_responses_key_taken', 'board_stream_id_taken']

const storedBody = statement(
  'read_stored_body',
  (args: { user_id: string; key: string }) => sql<{ body: string }>`
    select body from stored_responses where user_id = ${args.user_id} and key = ${args.key}`,
)
/** The body of a stored response that was too large to be read with the caller. */
export async function readStoredBody(db: Db, user_id: string, key: string): Promise<string> {
  const [stored] = await db.run(storedBody, { user_id, key })
  // It expired at this moment: the client may send the request again.
  if (!stored) throw new Problem('overloaded')
  return stored.body
}

const deleteExpired = statement(
  'delete_expired_responses_of_user',
  (args: { user_id: string }) => sql`
    delete from stored_responses where ctid in (
      select ctid from stored_responses where user_id = ${args.user_id} and created_at <= now() - interval '24 hours'
      for update skip locked)`,
)
interface ResponseRow {
  user_id: string
  key: string
  board_id: string
  fingerprint: string
  status: number
  body: string | null
  position: string
}
const insertResponse = statement('store_response', (args: ResponseRow, query) =>
  query.insertInto('stored_responses').values({
    user_id: args.user_id,
    key: args.key,
    board_id: args.board_id,
    fingerprint: args.fingerprint,
    status: args.status,
    body: args.body,
    position: args.position,
  }),
)
/** Stores a response for retries, and deletes those of the same user that are older than a day. */
export const storeResponse = (tx: Db, row: ResponseRow) =>
  Promise.all([tx.run(deleteExpired, { user_id: row.user_id }), tx.run(insertResponse, row)])
