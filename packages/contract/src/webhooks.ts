import Type, { type Static } from 'typebox'
import { type EventKind, events } from './events.ts'
import {
  Changes,
  Nullable,
  named,
  nothing,
  Optional,
  operation,
  owner,
  Paging,
  Timestamp,
  Title,
  Uuid,
} from './operation.ts'

/** One change of a busy board is sent this many times at most. */
export const MAX_WEBHOOKS = 10
export const MAX_URL_LENGTH = 2_048

const Kind = Type.Unsafe<EventKind>({ type: 'string', enum: Object.keys(events) })
const Kinds = Type.Array(Kind, { maxItems: Object.keys(events).length })
const Url = Type.String({
  format: 'web-url',
  maxLength: MAX_URL_LENGTH,
  description:
    'Where events are sent. `https`, unless the operator allows `http`. It is stored and returned as it is called: without spaces around it, with its host in Punycode. Members do not see it.',
})

/** What an attempt failed with, if there was no response. */
const AttemptError = Type.Enum([
  'unreachable',
  'timeout',
  'connection_lost',
  'tls',
  'invalid_response',
  'secret_unreadable',
])
const attemptFields = {
  status: Nullable({ ...Type.Integer(), description: 'The status of the response; null without one.' }),
  error: Nullable({
    ...AttemptError,
    description:
      'Why there was no response. `unreachable` is an unknown name, a closed port or an address that is not allowed: they are not told apart. `secret_unreadable`: nothing was sent, because the secret cannot be decrypted with the keys of the operator.',
  }),
  duration_ms: Nullable(Type.Integer({ minimum: 0 })),
}

const shape = Type.Object({
  id: Uuid,
  board_id: Uuid,
  name: Type.String(),
  url: Type.String(),
  kinds: Nullable({ ...Kinds, description: 'The kinds of events that are sent; null: all.' }),
  is_enabled: Type.Boolean(),
  state: Type.Enum(['active', 'retrying', 'paused', 'disabled'], {
    description:
      '`retrying`: the next event failed and will be sent again; later events wait. `paused`: nothing is sent until the webhook is resumed. `disabled`: by an owner.',
  }),
  paused_reason: Nullable({
    ...Type.Enum(['failing', 'gone', 'token_invalid']),
    description:
      '`failing`: it failed for too long. `gone`: the receiver returned 410. `token_invalid`: it was created with an access token that has expired or was revoked.',
  }),
  position: Type.String({ description: 'Every event up to this position was accepted, or is of another kind.' }),
  behind: Type.Integer({ minimum: 0, description: 'How many events of the board come after `position`.' }),
  failed_attempts: Type.Integer({ minimum: 0, description: 'Failed attempts to send the next event.' }),
  failing_since: Nullable(Timestamp),
  next_attempt_at: Nullable({ ...Timestamp, description: 'Only while `retrying`.' }),
  last_delivered_at: Nullable(Timestamp),
  old_secret_until: Nullable({ ...Timestamp, description: 'Until then, the previous secret signs too.' }),
  created_by: Uuid,
  created_at: Timestamp,
})
/** A receiver of a board's events over HTTP. */
export interface Webhook extends Static<typeof shape> {}
export const Webhook = named<Webhook>('Webhook', shape)

const secretShape = Type.Object({ secret: Type.String(), old_secret_until: Nullable(Timestamp) })
export interface WebhookSecret extends Static<typeof secretShape> {}
export const WebhookSecret = named<WebhookSecret>('WebhookSecret', secretShape)

const attemptShape = Type.Object(attemptFields)
/** The result of one attempt to send something. */
export interface WebhookAttempt extends Static<typeof attemptShape> {}
export const WebhookAttempt = named<WebhookAttempt>('WebhookAttempt', attemptShape)

const deliveryShape = Type.Object({
  id: Uuid,
  attempted_at: Timestamp,
  type: Type.String({ description: 'The kind of the event; also `webhook.test` and `webhook.resync`.' }),
  position: Nullable({ ...Type.String(), description: 'The position of the event; null for a test.' }),
  attempt: Type.Integer({ minimum: 1, description: 'Counts the attempts to send this event.' }),
  is_accepted: Type.Boolean(),
  ...attemptFields,
  response: Nullable({
    ...Type.String(),
    description: 'The first 1,024 bytes of the response; null unless the receiver has a public address.',
  }),
})
/** An attempt to send an event, as the delivery log has it. */
export interface WebhookDelivery extends Static<typeof deliveryShape> {}
export const WebhookDelivery = named<WebhookDelivery>('WebhookDelivery', deliveryShape)

/** A position of the log, or the current one. */
const After = Type.String({
  format: 'start-position',
  description:
    'Events after this position are sent: `<epoch>.<seq>`, `0` for everything that the log still has, or `now`. 410 if they are no longer available.',
})

const BoardPath = Type.Object({ board_id: Uuid })
const WebhookPath = Type.Object({ board_id: Uuid, webhook_id: Uuid })
const common = { tag: 'webhooks', access: owner('board') } as const
const off = ['webhooks_off'] as const
const missing = [...off, 'webhook_not_found'] as const
/** Webhooks are not part of the board: none of these operations emits an event. */
export const webhookOperations = {
  createWebhook: operation({
    ...common,
    method: 'POST',
    path: '/boards/{board_id}/webhooks',
    summary: 'Create a webhook',
    description: `Every event of the board is sent to its URL in order, one per request, and again until the receiver accepts it with a 2xx status. The first event is the one after \`position\` of the response. Read the secret that signs the requests with \`getWebhookSecret\`. A webhook that was created with an access token pauses when the token becomes invalid. A board has at most ${MAX_WEBHOOKS} webhooks.`,
    params: BoardPath,
    body: Type.Object({
      name: Title,
      url: Url,
      kinds: Optional(Kinds),
      is_enabled: Optional(Type.Boolean(), true),
      after: Optional(After, 'now'),
    }),
    returns: { status: 201, schema: Webhook },
    problems: [...off, 'url_refused', 'too_many_webhooks', 'history_gone'],
  }),
  listWebhooks: operation({
    ...common,
    method: 'GET',
    path: '/boards/{board_id}/webhooks',
    summary: 'List the webhooks of a board',
    description: `Oldest first. A board has at most ${MAX_WEBHOOKS}.`,
    params: BoardPath,
    query: Type.Object(Paging({ default: 50 })),
    returns: { status: 200, schema: Type.Array(Webhook) },
    problems: off,
  }),
  getWebhook: operation({
    ...common,
    method: 'GET',
    path: '/boards/{board_id}/webhooks/{webhook_id}',
    summary: 'Read a webhook',
    description: 'With its state, its position in the log, and how many events it is behind.',
    params: WebhookPath,
    returns: { status: 200, schema: Webhook },
    problems: missing,
  }),
  updateWebhook: operation({
    ...common,
    method: 'PATCH',
    path: '/boards/{board_id}/webhooks/{webhook_id}',
    summary: 'Change a webhook',
    description:
      'It takes effect with the next event. What the old URL accepts at this moment may be sent to the new one again. A new URL resumes a paused webhook.',
    params: WebhookPath,
    body: Changes({ name: Title, url: Url, kinds: Nullable(Kinds), is_enabled: Type.Boolean() }),
    returns: { status: 200, schema: Webhook },
    problems: [...missing, 'url_refused'],
  }),
  deleteWebhook: operation({
    ...common,
    method: 'DELETE',
    path: '/boards/{board_id}/webhooks/{webhook_id}',
    summary: 'Delete a webhook',
    description: 'A request that is being sent at this moment is not cancelled.',
    params: WebhookPath,
    returns: nothing,
    problems: missing,
  }),
  resumeWebhook: operation({
    ...common,
    method: 'POST',
    path: '/boards/{board_id}/webhooks/{webhook_id}/resume',
    summary: 'Resume a webhook, or replay events',
    description:
      'Sends at once: from where it stopped, or from the position `after`. Events that were accepted before are sent again if they come after it, with the same `webhook-id`. Does not enable a disabled webhook.',
    params: WebhookPath,
    body: Type.Object({ after: Optional(After) }),
    returns: { status: 200, schema: Webhook },
    problems: [...missing, 'history_gone'],
  }),
  getWebhookSecret: operation({
    ...common,
    method: 'GET',
    path: '/boards/{board_id}/webhooks/{webhook_id}/secret',
    summary: 'Read the secret of a webhook',
    description: 'Requires a login within the last hour. The audit log records it.',
    token: 'never',
    is_secret: true,
    params: WebhookPath,
    returns: { status: 200, schema: WebhookSecret },
    problems: [...missing, 'login_too_old'],
  }),
  rotateWebhookSecret: operation({
    ...common,
    method: 'POST',
    path: '/boards/{board_id}/webhooks/{webhook_id}/rotate-secret',
    summary: 'Replace the secret of a webhook',
    description: 'Until `old_secret_until`, each request is signed with both secrets.',
    token: 'never',
    params: WebhookPath,
    body: Type.Object({ keep_old_hours: Optional(Type.Integer({ minimum: 0, maximum: 24 }), 24) }),
    returns: { status: 200, schema: Webhook },
    problems: missing,
  }),
  testWebhook: operation({
    ...common,
    method: 'POST',
    path: '/boards/{board_id}/webhooks/{webhook_id}/test',
    summary: 'Send a test event',
    description: 'One attempt with `webhook.test`, at most 10 per minute. The position of the webhook does not change.',
    params: WebhookPath,
    returns: { status: 200, schema: WebhookAttempt },
    problems: [...missing, 'too_many_requests', 'overloaded'],
  }),
  listDeliveries: operation({
    ...common,
    method: 'GET',
    path: '/boards/{board_id}/webhooks/{webhook_id}/deliveries',
    summary: 'List what a webhook has sent',
    description:
      'Every attempt, newest first, as long as the operator keeps the log (`WEBHOOK_LOG_DAYS`). `Link` is the next page.',
    params: WebhookPath,
    query: Type.Object({
      is_accepted: Type.Optional(
        Type.Enum(['true', 'false'], { description: '`false`: only failed attempts; `true`: only accepted ones.' }),
      ),
      ...Paging({ default: 50, maximum: 200 }),
    }),
    returns: { status: 200, schema: Type.Array(WebhookDelivery) },
    problems: missing,
  }),
}
