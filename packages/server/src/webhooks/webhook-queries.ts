import type { JsonText } from '@lockstep/contract/operation'
import type { Webhook, WebhookDelivery } from '@lockstep/contract/webhooks'
import { sql } from 'kysely'
import { type Db, type JsonRow, type ResourceKey, statement, wireTime } from '../database/database.ts'
import { idCursor, isGreater, isLess, type ListedRow, type Page } from '../database/keyset.ts'
import { hasValidToken } from './dispatch-queries.ts'

/** Why nothing is sent; null if something is. An invalid token is not stored: it is a fact of another table. */
const pausedReason = sql`coalesce(hook.paused_reason, case when not ${hasValidToken} then 'token_invalid' end)`

/** A webhook, of the row `hook`. Its state follows from its other columns. The secret is never among them. */
const webhookJson = sql<Webhook>`(select row_to_json(fields) from (
  select hook.id, hook.board_id, hook.name, hook.url, hook.kinds, hook.is_enabled,
    case when not hook.is_enabled then 'disabled' when ${pausedReason} is not null then 'paused'
      when hook.failed_attempts > 0 then 'retrying' else 'active' end as state,
    ${pausedReason} as paused_reason, hook.epoch || '.' || hook.seq as position,
    case when stream.epoch = hook.epoch then stream.last_seq - hook.seq else stream.last_seq end as behind,
    hook.failed_attempts, ${wireTime(sql`hook.failing_since`)} as failing_since,
    case when hook.is_enabled and hook.failed_attempts > 0 and ${pausedReason} is null
      then ${wireTime(sql`hook.next_attempt_at`)} end as next_attempt_at,
    ${wireTime(sql`hook.last_delivered_at`)} as last_delivered_at,
    case when hook.old_secret_until > clock_timestamp() then ${wireTime(sql`hook.old_secret_until`)} end as old_secret_until,
    hook.created_by, ${wireTime(sql`hook.created_at`)} as created_at
  from board_stream stream where stream.board_id = hook.board_id) fields)`

const list = statement(
  'list_webhooks',
  (args: { board_id: string } & Page) => sql<ListedRow<Webhook>>`
    select ${webhookJson}::text as json, ${idCursor(sql`hook.id`)} as cursor from webhooks hook
    where hook.board_id = ${args.board_id} and ${isGreater(sql`hook.id`, args)} order by hook.id limit ${args.limit}`,
)
/** The webhooks of a board, oldest first. */
export const listWebhooks = (db: Db, board_id: string, page: Page) => db.run(list, { board_id, ...page })

const read = statement(
  'read_webhook',
  (args: ResourceKey) => sql<JsonRow<Webhook>>`
    select ${webhookJson}::text as json from webhooks hook where hook.board_id = ${args.board_id} and hook.id = ${args.id}`,
)
export const readWebhook = async (db: Db, key: ResourceKey): Promise<JsonText<Webhook> | undefined> =>
  (await db.run(read, key))[0]?.json

interface Stream {
  epoch: number
  last_seq: number
  /** The first number after `after` that the log still has. */
  first_seq: number | null
  webhooks: number
}
const stream = statement(
  'read_stream_for_webhook',
  (args: { board_id: string; after: number }) => sql<Stream>`
    select stream.epoch, stream.last_seq,
      (select min(seq) from board_events where board_id = ${args.board_id} and seq > ${args.after}) as first_seq,
      (select count(*) from webhooks where board_id = ${args.board_id}) as webhooks
    from board_stream stream where stream.board_id = ${args.board_id}`,
)
/** The state of the board's log. Call it under the board lock, so that webhooks are created one at a time and their limit holds. */
export async function readStream(tx: Db, board_id: string, after: number): Promise<Stream | undefined> {
  return (await tx.run(stream, { board_id, after }))[0]
}

interface NewWebhook {
  board_id: string
  id: string
  name: string
  url: string
  kinds: string[] | null
  is_enabled: boolean
  secret: Buffer
  created_by: string
  token_id: string | null
  epoch: number
  seq: number
}
const insert = statement(
  'insert_webhook',
  (args: NewWebhook) => sql`
    insert into webhooks (board_id, id, name, url, kinds, is_enabled, secret, created_by, token_id, epoch, seq)
    values (${args.board_id}, ${args.id}, ${args.name}, ${args.url}, ${args.kinds}, ${args.is_enabled}, ${args.secret},
      ${args.created_by}, ${args.token_id}, ${args.epoch}, ${args.seq})`,
)
export const insertWebhook = async (tx: Db, webhook: NewWebhook) => void (await tx.run(insert, webhook))

/** Ends the lease of a sender, so that it saves nothing any more. */
const takeOver = sql`fence = hook.fence + 1, held_until = null`
/** As if nothing had failed. The webhook belongs to a login from now on if an owner without a token resumes it. */
const restart = sql`failed_attempts = 0, failing_since = null, next_attempt_at = clock_timestamp(), paused_reason = null, is_slow = false`

interface WebhookChanges extends ResourceKey {
  name: string | null
  url: string | null
  has_kinds: boolean
  kinds: string[] | null
  is_enabled: boolean | null
}
const update = statement(
  'update_webhook',
  (args: WebhookChanges) => sql<{ id: string }>`
    update webhooks hook set ${takeOver}, name = coalesce(${args.name}, hook.name), url = coalesce(${args.url}, hook.url),
      kinds = case when ${args.has_kinds}::boolean then ${args.kinds}::text[] else hook.kinds end,
      is_enabled = coalesce(${args.is_enabled}, hook.is_enabled)
    where hook.board_id = ${args.board_id} and hook.id = ${args.id} returning hook.id`,
)
const resume = statement(
  'resume_webhook',
  (args: ResourceKey & { epoch: number | null; seq: number | null; token_id: string | null }) => sql<{ id: string }>`
    update webhooks hook set ${takeOver}, ${restart}, token_id = ${args.token_id},
      epoch = coalesce(${args.epoch}, hook.epoch), seq = coalesce(${args.seq}, hook.seq)
    where hook.board_id = ${args.board_id} and hook.id = ${args.id} returning hook.id`,
)
/** False when there is no such webhook. */
export const updateWebhook = async (tx: Db, changes: WebhookChanges) => (await tx.run(update, changes)).length === 1
/** Sends at once: from the given position, or from where it stopped. False when there is no such webhook. */
export const resumeWebhook = async (
  tx: Db,
  key: ResourceKey & { epoch: number | null; seq: number | null; token_id: string | null },
) => (await tx.run(resume, key)).length === 1

const remove = statement(
  'delete_webhook',
  (args: ResourceKey) => sql<{ id: string }>`
    delete from webhooks where board_id = ${args.board_id} and id = ${args.id} returning id`,
)
export const deleteWebhook = async (tx: Db, key: ResourceKey) => (await tx.run(remove, key)).length === 1

const readSecret = statement(
  'read_webhook_secret',
  (args: ResourceKey) => sql<{
    url: string
    secret: Buffer
    old_secret: Buffer | null
    old_secret_until: string | null
  }>`
    select url, secret, case when old_secret_until > clock_timestamp() then old_secret end as old_secret,
      case when old_secret_until > clock_timestamp() then ${wireTime(sql`old_secret_until`)} end as old_secret_until
    from webhooks where board_id = ${args.board_id} and id = ${args.id}`,
)
/** The encrypted secrets. */
export const readWebhookSecret = async (db: Db, key: ResourceKey) => (await db.run(readSecret, key))[0]

const rotate = statement(
  'rotate_webhook_secret',
  (args: ResourceKey & { secret: Buffer; hours: number }) => sql<{ id: string }>`
    update webhooks hook set ${takeOver}, secret = ${args.secret},
      old_secret = case when ${args.hours}::int > 0 then hook.secret end,
      old_secret_until = case when ${args.hours}::int > 0 then clock_timestamp() + make_interval(hours => ${args.hours}) end
    where hook.board_id = ${args.board_id} and hook.id = ${args.id} returning hook.id`,
)
export const rotateSecret = async (tx: Db, key: ResourceKey & { secret: Buffer; hours: number }) =>
  (await tx.run(rotate, key)).length === 1

interface DeliveryPage extends Page {
  board_id: string
  webhook_id: string
  is_accepted: boolean | null
}
const deliveries = statement(
  'list_webhook_deliveries',
  (args: DeliveryPage) => sql<ListedRow<WebhookDelivery>>`
    select ${idCursor(sql`delivery.id`)} as cursor, (select row_to_json(fields) from (
      select delivery.id, ${wireTime(sql`delivery.attempted_at`)} as attempted_at, delivery.type,
        delivery.epoch || '.' || delivery.seq as position, delivery.attempt, delivery.is_accepted, delivery.status,
        delivery.error, delivery.duration_ms, delivery.response) fields)::text as json
    from webhook_deliveries delivery
    where delivery.board_id = ${args.board_id} and delivery.webhook_id = ${args.webhook_id}
      and ${isLess(sql`delivery.id`, args)}
      and (${args.is_accepted}::boolean is null or delivery.is_accepted = ${args.is_accepted})
    order by delivery.id desc limit ${args.limit}`,
)
/** The attempts of a webhook, newest first. */
export const listDeliveries = (db: Db, page: DeliveryPage) => db.run(deliveries, page)

interface NewDelivery {
  board_id: string
  webhook_id: string
  id: string
  type: string
  is_accepted: boolean
  status: number | null
  error: string | null
  duration_ms: number | null
  response: string | null
}
const logTest = statement(
  'log_webhook_test',
  (args: NewDelivery) => sql`
    insert into webhook_deliveries (board_id, webhook_id, id, type, attempt, is_accepted, status, error, duration_ms, response)
    select hook.board_id, hook.id, ${args.id}, ${args.type}, 1, ${args.is_accepted}, ${args.status}, ${args.error},
      ${args.duration_ms}, ${args.response}
    from webhooks hook where hook.board_id = ${args.board_id} and hook.id = ${args.webhook_id}`,
)
export const insertTestDelivery = async (db: Db, delivery: NewDelivery) => void (await db.run(logTest, delivery))
