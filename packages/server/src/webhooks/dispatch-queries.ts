import { sql } from 'kysely'
import { BATCH_ROWS, inBatches } from '../database/batches.ts'
import { type Db, statement } from '../database/database.ts'

/** A webhook that this instance holds, with what it needs to send. */
export interface HeldWebhook {
  board_id: string
  id: string
  url: string
  secret: Buffer
  old_secret: Buffer | null
  created_by: string
  epoch: number
  seq: number
  failed_attempts: number
  /** Seconds since the first of them. */
  failing_seconds: number
  fence: number
}

/** Whether the access token that created the webhook, if there was one, is still valid. */
export const hasValidToken = sql<boolean>`(hook.token_id is null or exists (select from access_tokens token
  where token.id = hook.token_id and (token.expires_at is null or token.expires_at > clock_timestamp())))`
/** The time puts a webhook behind others that wait. */
const behindOthers = sql`greatest(hook.next_attempt_at, clock_timestamp())`
const isSending = sql`hook.is_enabled and hook.paused_reason is null`

interface ClaimArguments {
  lease_seconds: number
  is_slow: boolean
  busy_users: string[]
  limit: number
}
/**
 * The fencing number begins with the time. A crash of PostgreSQL can lose the last saved attempts, and their numbers must not be
 * used again.
 */
const newFence = sql`greatest(hook.fence + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint)`
/**
 * Takes the lease of webhooks that have something to send. It ends by itself, so a killed instance blocks nothing for long. The
 * row lock alone would protect nothing after the commit.
 */
const claimed = (args: ClaimArguments, condition = sql``) => sql<HeldWebhook>`
  update webhooks hook set fence = ${newFence}, held_until = clock_timestamp() + make_interval(secs => ${args.lease_seconds})
  from (
    select hook.board_id, hook.id from webhooks hook join board_stream stream on stream.board_id = hook.board_id
    where ${isSending} and hook.next_attempt_at <= clock_timestamp()
      and (hook.held_until is null or hook.held_until < clock_timestamp())
      and (stream.last_seq > hook.seq or stream.epoch <> hook.epoch)
      and (hook.is_slow or hook.failed_attempts > 0) = ${args.is_slow}::boolean
      and hook.created_by <> all (${args.busy_users}::uuid[]) and ${hasValidToken} ${condition}
    order by hook.next_attempt_at limit ${args.limit} for no key update of hook skip locked) due
  where hook.board_id = due.board_id and hook.id = due.id
  returning hook.board_id, hook.id, hook.url, hook.secret, hook.created_by, hook.epoch, hook.seq,
    case when hook.old_secret_until > clock_timestamp() then hook.old_secret end as old_secret, hook.failed_attempts,
    coalesce(extract(epoch from clock_timestamp() - hook.failing_since), 0)::float8 as failing_seconds, hook.fence`
const claimAny = statement('claim_webhooks', (args: ClaimArguments) => claimed(args))
const claimOfBoards = statement('claim_webhooks_of_boards', (args: ClaimArguments & { board_ids: string[] }) =>
  claimed(args, sql`and hook.board_id = any (${args.board_ids}::uuid[])`),
)
/** Takes webhooks that are due: of some boards, or of any. */
export const claimWebhooks = (db: Db, args: ClaimArguments, board_ids: string[] | 'any'): Promise<HeldWebhook[]> =>
  board_ids === 'any' ? db.run(claimAny, args) : db.run(claimOfBoards, { ...args, board_ids })

const PAGE_EVENTS = 200
const PAGE_BYTES = 1_048_576

/** An event after the webhook's position, with the board's position. Null fields: there is no such event. */
export interface NextEvent {
  webhook_id: string
  head_epoch: number
  head_seq: number
  seq: number | null
  type: string
  /** Null if the webhook does not want this kind. */
  body: string | null
  is_truncated: boolean
  /** Milliseconds since the epoch. */
  created_at: number
}
interface NextEventsArguments {
  board_ids: string[]
  webhook_ids: string[]
  afters: number[]
  max_bytes: number
  page_bytes: number
}
/** Only the texts that will be sent are read. Of an event that is too large, only the id of its subject is. */
const next = statement(
  'read_events_for_webhooks',
  (args: NextEventsArguments) => sql<NextEvent>`
    select hook.id as webhook_id, stream.epoch as head_epoch, stream.last_seq as head_seq, event.seq, event.type, event.is_truncated,
      (extract(epoch from event.created_at) * 1000)::float8 as created_at,
      case when event.is_wanted and not event.is_truncated then event.body
        when event.is_wanted then (
          select json_build_object('type', event.type, 'data', json_build_object('id', whole.json #> '{data,id}'),
            'user_id', whole.json -> 'user_id', 'timestamp', whole.json -> 'timestamp', 'version', whole.json -> 'version')::text
          from (select event.body::json as json) whole) end as body
    from unnest(${args.board_ids}::uuid[], ${args.webhook_ids}::uuid[], ${args.afters}::int8[]) held (board_id, id, after)
    join webhooks hook on hook.board_id = held.board_id and hook.id = held.id
    join board_stream stream on stream.board_id = held.board_id
    left join lateral (
      select counted.*, sum(counted.bytes) over (order by counted.seq) - counted.bytes as bytes_before from (
        select found.*, case when found.is_wanted and not found.is_truncated then octet_length(found.body) else 0 end as bytes
        from (
          select seq, type, created_at, body, octet_length(body) > ${args.max_bytes}::int as is_truncated,
            hook.kinds is null or type = any (hook.kinds) as is_wanted
          from board_events where board_id = held.board_id and seq > held.after
          order by seq limit ${sql.lit(PAGE_EVENTS)}) found) counted) event on event.bytes_before < ${args.page_bytes}::int
    order by hook.id, event.seq`,
)
/** The next events of each webhook, by its id. All of them together are about one page of bytes, and each has at least one event. */
export async function readNextEvents(
  db: Db,
  webhooks: Pick<HeldWebhook, 'board_id' | 'id' | 'seq'>[],
  max_bytes: number,
): Promise<Map<string, NextEvent[]>> {
  const rows = await db.run(next, {
    board_ids: webhooks.map(({ board_id }) => board_id),
    webhook_ids: webhooks.map(({ id }) => id),
    afters: webhooks.map(({ seq }) => seq),
    max_bytes,
    page_bytes: Math.ceil(PAGE_BYTES / webhooks.length),
  })
  return Map.groupBy(rows, ({ webhook_id }) => webhook_id)
}

/** An attempt, and what it changes. */
export interface RecordedAttempt {
  board_id: string
  webhook_id: string
  fence: number
  id: string
  type: string
  /** The position of the event. */
  event_epoch: number
  event_seq: number
  /** The position of the webhook from now on. */
  epoch: number
  seq: number
  attempt: number
  is_accepted: boolean
  /** Whether the lease ends, because there is nothing more to send. It also ends when the attempt failed. */
  is_last: boolean
  is_slow: boolean
  wait_seconds: number
  paused_reason: string | null
  status: number | null
  error: string | null
  duration_ms: number | null
  response: string | null
}
/**
 * Moves webhooks and logs their attempts in one statement. It does not wait for the disk: a crash of PostgreSQL can lose the last
 * moments of it, and then events are sent again, which is allowed. That makes it several times faster.
 */
const recordAttempts = statement(
  'record_webhook_attempts',
  (args: { attempts: string; lease_seconds: number }) => sql<{ webhook_id: string; fence: number }>`
    with settings as (select set_config('synchronous_commit', 'off', true)),
    saved as (
      select * from json_to_recordset(${args.attempts}::json) saved (board_id uuid, webhook_id uuid, fence bigint, id uuid, type text,
        event_epoch integer, event_seq bigint, epoch integer, seq bigint, attempt integer, is_accepted boolean, is_last boolean,
        is_slow boolean, wait_seconds float8, paused_reason text, status integer, error text, duration_ms integer, response text)),
    moved as (
      update webhooks hook set fence = hook.fence + 1, epoch = saved.epoch, seq = saved.seq, is_slow = saved.is_slow,
        failed_attempts = case when saved.is_accepted then 0 else hook.failed_attempts + 1 end,
        failing_since = case when not saved.is_accepted then coalesce(hook.failing_since, clock_timestamp()) end,
        next_attempt_at = case when not saved.is_accepted then clock_timestamp() + make_interval(secs => saved.wait_seconds)
          when saved.is_last then ${behindOthers} else hook.next_attempt_at end,
        held_until = case when saved.is_accepted and not saved.is_last
          then clock_timestamp() + make_interval(secs => ${args.lease_seconds}) end,
        last_delivered_at = case when saved.is_accepted then clock_timestamp() else hook.last_delivered_at end,
        paused_reason = saved.paused_reason
      from settings, saved
      where hook.board_id = saved.board_id and hook.id = saved.webhook_id and hook.fence = saved.fence
      returning hook.board_id, hook.id, hook.fence),
    logged as (
      insert into webhook_deliveries (board_id, webhook_id, id, type, epoch, seq, attempt, is_accepted, status, error, duration_ms, response)
      select board_id, webhook_id, saved.id, type, event_epoch, event_seq, attempt, is_accepted, status, error, duration_ms, response
      from saved join moved using (board_id) where moved.id = saved.webhook_id)
    select id as webhook_id, fence from moved`,
)
/**
 * Returns the next fencing number of each. Undefined when another instance or an owner has taken the webhook over: then nothing
 * changes.
 */
export async function saveAttempts(
  db: Db,
  attempts: RecordedAttempt[],
  lease_seconds: number,
): Promise<(number | undefined)[]> {
  const rows = await db.run(recordAttempts, { attempts: JSON.stringify(attempts), lease_seconds })
  const fences = new Map(rows.map(({ webhook_id, fence }) => [webhook_id, fence]))
  return attempts.map(({ webhook_id }) => fences.get(webhook_id))
}

const release = statement(
  'release_webhooks',
  (args: { board_ids: string[]; webhook_ids: string[]; fences: number[]; seqs: number[] }) => sql`
    update webhooks hook set held_until = null, seq = held.seq, next_attempt_at = ${behindOthers}
    from unnest(${args.board_ids}::uuid[], ${args.webhook_ids}::uuid[], ${args.fences}::int8[], ${args.seqs}::int8[])
      held (board_id, id, fence, seq)
    where hook.board_id = held.board_id and hook.id = held.id and hook.fence = held.fence`,
)
/** Ends leases. `seq` is behind events that the webhook does not want. */
export const releaseWebhooks = (db: Db, webhooks: HeldWebhook[]): Promise<unknown[]> =>
  db.run(release, {
    board_ids: webhooks.map(({ board_id }) => board_id),
    webhook_ids: webhooks.map(({ id }) => id),
    fences: webhooks.map(({ fence }) => fence),
    seqs: webhooks.map(({ seq }) => seq),
  })

const boardsWithWebhooks = statement(
  'list_boards_with_webhooks',
  () => sql<{ board_id: string }>`select distinct hook.board_id from webhooks hook where ${isSending}`,
)
export const listBoardsWithWebhooks = async (db: Db): Promise<string[]> =>
  (await db.run(boardsWithWebhooks, {})).map(({ board_id }) => board_id)

const deleteOld = statement(
  'delete_expired_deliveries',
  (args: { days: number }) => sql<{ id: string }>`
    delete from webhook_deliveries where ctid in (
      select ctid from webhook_deliveries where attempted_at < now() - make_interval(days => ${args.days}) order by attempted_at limit ${sql.lit(BATCH_ROWS)})
    returning id`,
)
/** A webhook of a deleted board has sent the deletion, or will not send it any more. */
const deleteFinished = statement(
  'delete_finished_webhooks',
  () => sql<{ id: string }>`
    delete from webhooks hook where not exists (select from boards where id = hook.board_id)
      and (not (${isSending}) or not ${hasValidToken}
        or hook.seq >= (select last_seq from board_stream stream where stream.board_id = hook.board_id))
    returning hook.id`,
)
/** Deletes old rows of the delivery log, and webhooks of deleted boards. Returns how many. */
export const deleteExpiredDeliveries = async (db: Db, days: number): Promise<number> =>
  (await inBatches(() => db.run(deleteOld, { days }))) + (await db.run(deleteFinished, {})).length
