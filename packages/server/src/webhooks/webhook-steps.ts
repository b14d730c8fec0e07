import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { JsonText } from '@lockstep/contract/operation'
import { MAX_WEBHOOKS, type Webhook, type WebhookAttempt, type WebhookSecret } from '@lockstep/contract/webhooks'
import { v7 as newUuid } from 'uuid'
import { record } from '../administration/admin-steps.ts'
import { type Caller, requireRecentLogin } from '../core/authorize.ts'
import type { Database, Db, ResourceKey } from '../database/database.ts'
import { Problem } from '../platform/problem.ts'
import type { SecretBox } from '../security/secret-box.ts'
import { type Dispatcher, isSuccess, secretContext, sendSigned, shownDuration } from './dispatcher.ts'
import { newSecretText, testMessage } from './message.ts'
import type { Outgoing, OutgoingSettings } from './outgoing.ts'
import {
  deleteWebhook,
  insertTestDelivery,
  insertWebhook,
  readStream,
  readWebhook,
  readWebhookSecret,
  resumeWebhook,
  rotateSecret,
  updateWebhook,
} from './webhook-queries.ts'

const SECRET_BYTES = 32
/** A test of an address that cannot be reached takes this long, so that its time does not tell why. */
const UNREACHABLE_MS = 5_000

/** What webhooks depend on. */
export interface Webhooks {
  database: Database
  secrets: SecretBox
  dispatcher: Dispatcher
  outgoing: Outgoing
  outgoingSettings: OutgoingSettings
}

const newSecret = (secrets: SecretBox, webhook_id: string) =>
  secrets.close(newSecretText(randomBytes(SECRET_BYTES)), secretContext(webhook_id))

/** The access token of the caller: a webhook that it creates or resumes ends with it. */
const tokenOf = ({ caller }: Changer) => caller.credential.token_id ?? null

/** Who changes a webhook or reads its secret. */
export interface Changer {
  caller: Caller
  /** Takes the board lock and authorizes again: access may have been lost since the request began, while its body was sent. */
  authorize: (tx: Db) => Promise<unknown>
}

interface Action {
  action: string
  key: ResourceKey
}
/** Does something with a webhook and records it in the audit log, in one transaction. `work` returns nothing if the webhook is missing. */
const run = <Found, Result>(
  { database }: Webhooks,
  { caller, authorize }: Changer,
  { action, key: { board_id, id } }: Action,
  work: (tx: Db) => Promise<Found>,
  resultOf: (tx: Db, found: NonNullable<Found>) => Promise<Result>,
): Promise<Result> =>
  database.transaction<Found, Result>(
    async (tx) => {
      await authorize(tx)
      return work(tx)
    },
    async (tx, found) => {
      if (!found) throw new Problem('webhook_not_found')
      const result = await resultOf(tx, found)
      const details = { board_id, webhook_id: id }
      return { result, close: (end) => record(end, { actor_id: caller.id }, action, null, details) }
    },
  )

/** Changes a webhook. It takes effect at once. Returns the webhook. */
async function change(
  services: Webhooks,
  changer: Changer,
  action: Action,
  work: (tx: Db) => Promise<boolean>,
): Promise<JsonText<Webhook>> {
  const { key } = action
  const read = async (tx: Db) => (await readWebhook(tx, key)) as JsonText<Webhook>
  const webhook = await run(services, changer, action, work, read)
  services.dispatcher.webhookChanged(key.board_id)
  return webhook
}

/** A position of the log. `now` is its end, and `0` its beginning. */
interface Position {
  epoch: number
  seq: number
}
async function resolvePosition(tx: Db, board_id: string, after: string): Promise<Position & { webhooks: number }> {
  const [epoch, seq] = after.includes('.') ? (after.split('.').map(Number) as [number, number]) : [undefined, 0]
  const stream = await readStream(tx, board_id, seq)
  if (!stream) throw new Problem('board_not_found')
  const { last_seq, first_seq, webhooks } = stream
  const at = (given: number) => ({ epoch: stream.epoch, seq: given, webhooks })
  if (after === 'now') return at(last_seq)
  if (epoch === undefined) return at(first_seq === null ? last_seq : first_seq - 1)
  const isKept = seq === last_seq || (seq < last_seq && first_seq === seq + 1)
  if (epoch !== stream.epoch || !isKept) throw new Problem('history_gone')
  return at(seq)
}

interface NewWebhook {
  board_id: string
  name: string
  url: string
  kinds: string[] | null
  is_enabled: boolean
  after: string
}
export function createWebhook(
  services: Webhooks,
  changer: Changer,
  { board_id, after, ...fields }: NewWebhook,
): Promise<JsonText<Webhook>> {
  const key = { board_id, id: newUuid() }
  const secret = newSecret(services.secrets, key.id)
  return change(services, changer, { action: 'create-webhook', key }, async (tx) => {
    const { webhooks, epoch, seq } = await resolvePosition(tx, board_id, after)
    if (webhooks >= MAX_WEBHOOKS) throw new Problem('too_many_webhooks')
    const owner = { created_by: changer.caller.id, token_id: tokenOf(changer) }
    await insertWebhook(tx, { ...key, ...fields, ...owner, secret, epoch, seq })
    return true
  })
}

interface Changes {
  name?: string
  url?: string
  kinds?: string[] | null
  is_enabled?: boolean
}
/** A new URL is tried at once, also if the webhook is paused. */
export function changeWebhook(services: Webhooks, changer: Changer, key: ResourceKey, changes: Changes) {
  const { name = null, url = null, kinds = null, is_enabled = null } = changes
  return change(services, changer, { action: 'change-webhook', key }, async (tx) => {
    const isFound = await updateWebhook(tx, { ...key, name, url, kinds, has_kinds: 'kinds' in changes, is_enabled })
    if (url === null) return isFound
    return resumeWebhook(tx, { ...key, epoch: null, seq: null, token_id: tokenOf(changer) })
  })
}

export function resume(services: Webhooks, changer: Changer, key: ResourceKey, after: string | undefined) {
  return change(services, changer, { action: 'resume-webhook', key }, async (tx) => {
    const position = after === undefined ? undefined : await resolvePosition(tx, key.board_id, after)
    const { epoch = null, seq = null } = position ?? {}
    return resumeWebhook(tx, { ...key, epoch, seq, token_id: tokenOf(changer) })
  })
}

export function rotate(services: Webhooks, changer: Changer, key: ResourceKey, hours: number) {
  const secret = newSecret(services.secrets, key.id)
  return change(services, changer, { action: 'rotate-webhook-secret', key }, (tx) =>
    rotateSecret(tx, { ...key, secret, hours }),
  )
}

export const removeWebhook = (services: Webhooks, changer: Changer, key: ResourceKey): Promise<void> =>
  run(
    services,
    changer,
    { action: 'delete-webhook', key },
    (tx) => deleteWebhook(tx, key),
    async () => {},
  )

/** For users who logged in recently, so that a stolen session does not give away the secret. */
export function readSecret(services: Webhooks, changer: Changer, key: ResourceKey): Promise<WebhookSecret> {
  requireRecentLogin(changer.caller)
  return run(
    services,
    changer,
    { action: 'read-webhook-secret', key },
    (tx) => readWebhookSecret(tx, key),
    async (_, { secret, old_secret_until }) => ({
      secret: services.secrets.open(secret, secretContext(key.id)),
      old_secret_until,
    }),
  )
}

/** Sends `webhook.test` and logs it. */
export async function sendTest({ secrets, outgoing }: Webhooks, db: Db, key: ResourceKey): Promise<WebhookAttempt> {
  const found = await readWebhookSecret(db, key)
  if (!found) throw new Problem('webhook_not_found')
  const id = newUuid()
  const message = testMessage(key.board_id, key.id, id)
  const startedAt = performance.now()
  const result = await sendSigned({ outgoing, secrets }, { id: key.id, ...found }, message)
  if (result.error === 'unreachable') await pause(UNREACHABLE_MS - (performance.now() - startedAt))
  const { status, error, responseText: response } = result
  const attempt = { status, error, duration_ms: shownDuration(result) }
  const delivery = { id, type: message.type, is_accepted: isSuccess(result), ...attempt, response }
  await insertTestDelivery(db, { board_id: key.board_id, webhook_id: key.id, ...delivery })
  return attempt
}
