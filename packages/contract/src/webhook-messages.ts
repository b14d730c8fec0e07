import Type, { type TSchema } from 'typebox'
import type { Components, Json } from './components.ts'
import { events } from './index.ts'
import { named, Timestamp, Uuid } from './operation.ts'
import { eventEnvelope } from './realtime.ts'

/** A larger event is sent without its data. */
export const MAX_WEBHOOK_BYTES = 262_144

const Epoch = Type.Integer({ minimum: 1, description: 'Changes when the board is restored from a backup.' })
const Seq = Type.Integer({ minimum: 1, description: 'The number of the event on its board.' })
const pascal = (kind: string) => kind.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())

/** An event as a socket receives it, with its board and position. */
const delivery = (kind: string, data: TSchema) =>
  Type.Object({ board_id: Uuid, epoch: Epoch, seq: Seq, ...eventEnvelope(Type.Literal(kind), data).properties })

/** The fields of a message that is not an event of a board's log. */
const notice = (type: string, data: TSchema) => ({
  type: Type.Literal(type),
  board_id: Uuid,
  data,
  timestamp: Timestamp,
})

const Position = Type.String({ format: 'position' })

/** An event that is too large to be sent. */
export const TruncatedDelivery = named(
  'TruncatedDelivery',
  Type.Object({
    ...delivery('', Type.Object({ id: Type.Optional(Uuid) })).properties,
    type: Type.Enum(Object.keys(events)),
    truncated: Type.Literal(true, {
      description: `The event has more than ${MAX_WEBHOOK_BYTES.toLocaleString('en')} bytes. Read the resource by its id, or the event with \`listEvents\`.`,
    }),
  }),
)

export const TestDelivery = named(
  'TestDelivery',
  Type.Object(notice('webhook.test', Type.Object({ webhook_id: Uuid }))),
)

export const ResyncDelivery = named(
  'ResyncDelivery',
  Type.Object({
    epoch: Epoch,
    ...notice(
      'webhook.resync',
      Type.Object({
        board_id: Uuid,
        from: { ...Position, description: 'The position of the last event that was delivered: `<epoch>.<seq>`.' },
        to: { ...Position, description: 'The position after which events are delivered again: `<epoch>.<seq>`.' },
        reason: Type.Enum(['history_gone', 'epoch'], {
          description:
            '`history_gone`: the events in between are no longer available. `epoch`: the board was restored from a backup.',
        }),
      }),
    ),
  }),
)

interface WebhookMessage {
  summary: string
  description: string
  /** The possible bodies. */
  bodies: TSchema[]
}

/** Every message that a webhook can receive, by its type. */
export const webhookMessages: Record<string, WebhookMessage> = {
  ...Object.fromEntries(
    Object.entries(events).map(([kind, data]) => [
      kind,
      {
        summary: kind.replaceAll(/[._]/g, ' '),
        description: 'An event of the board, in the order of `seq`. It can be delivered more than once.',
        bodies: [named(`${pascal(kind)}Delivery`, delivery(kind, data)), TruncatedDelivery],
      },
    ]),
  ),
  'webhook.test': {
    summary: 'A test, on request',
    description: 'It is not an event of the board, and has no `seq`.',
    bodies: [TestDelivery],
  },
  'webhook.resync': {
    summary: 'Events could not be delivered',
    description: 'Load the board, and continue after `to`.',
    bodies: [ResyncDelivery],
  },
}

/** The headers of every delivery, as Standard Webhooks defines them, and the id of the webhook. */
const headers = {
  'webhook-id': { description: 'The same for every attempt to deliver this message.', type: 'string' },
  'webhook-timestamp': { description: 'The time of this attempt, in seconds since 1970.', type: 'integer' },
  'webhook-signature': {
    description:
      '`v1,` and the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` with the secret of the webhook, in Base64. While a secret is replaced there are two, separated by a space.',
    type: 'string',
  },
  'lockstep-webhook': { description: 'The id of the webhook.', type: 'string', format: 'uuid' },
} as const
const headerExamples: Record<keyof typeof headers, string | number> = {
  'webhook-id': 'evt_01a0c5f2-7d00-7000-8000-000000000001_1_42',
  'webhook-timestamp': 1_783_933_200,
  'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  'lockstep-webhook': '01a0c5f2-7d00-7000-8000-0000000000ff',
}

/** The `webhooks` of the OpenAPI document. `exampleOf` returns an event of a kind. */
export function describeWebhooks(components: Components, exampleOf: (kind: string) => Json | undefined): Json {
  const parameters = Object.entries(headers).map(([name, { description, ...schema }]) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema,
    example: headerExamples[name as keyof typeof headers],
  }))
  const entries = Object.entries(webhookMessages).map(([type, { summary, description, bodies }]) => {
    const schemas = bodies.map((body) => components.reference(body))
    const example = examples[type] ?? { ...place, ...exampleOf(type) }
    const content = { 'application/json': { schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas }, example } }
    const post = {
      operationId: `on${pascal(type)}`,
      tags: ['realtime'],
      summary: summary[0]?.toUpperCase() + summary.slice(1),
      description,
      security: [],
      parameters,
      requestBody: { required: true, content },
      responses,
    }
    return [type, { post }]
  })
  return Object.fromEntries(entries)
}

const place = { board_id: '01a0c5f2-7d00-7000-8000-000000000001', epoch: 1, seq: 42 }
const timestamp = '2026-07-13T09:00:00.000Z'
const examples: Record<string, Json> = {
  'webhook.test': {
    type: 'webhook.test',
    board_id: place.board_id,
    data: { webhook_id: headerExamples['lockstep-webhook'] },
    timestamp,
  },
  'webhook.resync': {
    type: 'webhook.resync',
    board_id: place.board_id,
    epoch: 1,
    data: { board_id: place.board_id, from: '1.42', to: '1.9000', reason: 'history_gone' },
    timestamp,
  },
}

/** What a receiver responds. */
const responses = {
  '2XX': { description: 'The message was accepted. The next one follows.' },
  '410': { description: 'The receiver wants no more messages: the webhook is paused.' },
  default: {
    description:
      'The message was not accepted, and is sent again later. Redirects are not followed. `Retry-After` of a 429 or 503 is respected.',
  },
}
