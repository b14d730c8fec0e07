import Type, { type TSchema } from 'typebox'
import { Components, type Json } from './components.ts'
import { events } from './index.ts'
import { examples } from './openapi.ts'
import { Uuid } from './operation.ts'
import {
  closeCodes,
  eventEnvelope,
  HEARTBEAT_SECONDS,
  isAddedKind,
  OnlineUser,
  PONG_SECONDS,
  protocolCodes,
} from './realtime.ts'

/** The kinds of events that sockets with numbers receive in addition, or all others. */
function kinds(isAdded: boolean) {
  return Object.keys(events)
    .filter((kind) => isAddedKind(kind) === isAdded)
    .map((kind) => `\`${kind}\``)
    .join(', ')
}

const description = `One socket for each board. It delivers every event of the board exactly once, in commit order, without gaps.

**Opening.** \`token\` is the token of a login, or a ticket (\`POST /auth/ticket\`). An access token (\`lsp_…\`, \`lsb_…\`) needs a
ticket. A connection that is rejected is opened and then closed with 1008, so that a browser can see the reason.

**Resuming.** With \`?seq=1\` or \`?since=<epoch>.<seq>\`, events and pings have a \`seq\`, and the first message is \`hello\` with the
board's position. \`since\` is the position of the last received event, or the \`Board-Position\` of a loaded board: missed events
are sent first, then new ones. \`resync\` means that the missed events are no longer available: load the board, and continue.

**Kinds of events.** A socket without \`seq\` and \`since\` receives these kinds and no others: ${kinds(false)}. With \`seq\` or
\`since\` it receives every kind, without a gap: also ${kinds(true)}. Kinds may be added to these; ignore those that you do not know.

**Heartbeat.** The server sends a \`ping\` every ${HEARTBEAT_SECONDS} seconds, the first one ${HEARTBEAT_SECONDS} seconds after the connect; reply with \`{"type":"pong"}\` within ${PONG_SECONDS} seconds.

**Messages of the client.** Only \`pong\` has a meaning. Any other message, text or binary, is ignored.

**Own changes.** Recognize them by position: the response to every write has a \`Board-Position\`. If a client skipped events by its own
\`user_id\`, it would miss the changes that the same user makes in another tab.

| Code | Meaning |
|---|---|
${[...Object.values(closeCodes), ...protocolCodes]
  .toSorted((a, b) => a.code - b.code)
  .map(({ code, help }) => `| ${code} | ${help} |`)
  .join('\n')}`

/** The host in the document. The service replaces it with the host that it is asked for. */
export const DOCUMENTED_HOST = 'boards.example.com'

const type = (name: string) => Type.Literal(name)
const seq = Type.Optional(Type.Integer({ description: 'Only with `seq=1` or `since`.' }))
const position = { epoch: Type.Integer(), seq: Type.Integer() }

/** Every message that the server sends, by name. */
const sent: Record<string, { summary: string; payload: TSchema }> = {
  hello: {
    summary: 'The first message if sequence numbers were requested: the position of the board',
    payload: Type.Object({ type: type('hello'), ...position }),
  },
  resync: {
    summary: 'Missed events are no longer available: load the board',
    payload: Type.Object({ type: type('resync'), ...position }),
  },
  ping: { summary: 'The heartbeat', payload: Type.Object({ type: type('ping'), board_id: Uuid, seq }) },
  user_joined: {
    summary: 'A user connected; also sent to the new connection itself',
    payload: Type.Object({ type: type('user_joined'), ...properties(OnlineUser) }),
  },
  user_left: {
    summary: "A user's last connection closed",
    payload: Type.Object({ type: type('user_left'), ...properties(OnlineUser) }),
  },
  ...Object.fromEntries(
    Object.entries(events).map(([kind, data]) => [
      kind,
      {
        summary: `${kind.replaceAll(/[._]/g, ' ')}${isAddedKind(kind) ? '; only with `seq` or `since`' : ''}`,
        payload: {
          ...eventEnvelope(type(kind), data),
          properties: { ...eventEnvelope(type(kind), data).properties, seq },
        },
      },
    ]),
  ),
}

function properties(schema: TSchema): Record<string, TSchema> {
  return (schema as unknown as { properties: Record<string, TSchema> }).properties
}

const host = { default: DOCUMENTED_HOST, description: 'The host and port of the service.' }

/** The AsyncAPI 3 document of the socket: a pure function of the contract. */
export function asyncApi(): Json {
  const components = new Components()
  const names = Object.keys(sent)
  const messages = Object.fromEntries(
    Object.entries({
      ...sent,
      pong: { summary: 'The reply to a ping', payload: Type.Object({ type: type('pong') }) },
    }).map(([name, { summary, payload }]) => [
      name,
      {
        name,
        summary,
        contentType: 'application/json',
        payload: components.reference(payload),
        ...(examples.messages[name] && { examples: [{ payload: examples.messages[name] }] }),
      },
    ]),
  )
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Lockstep real time',
      version: '0.2.0',
      description,
      contact: { name: 'The operator of this service' },
      license: { name: 'Apache 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: {
      secure: { host: '{host}', protocol: 'wss', description: 'Over TLS.', variables: { host } },
      plain: { host: '{host}', protocol: 'ws', description: 'Without TLS, for development.', variables: { host } },
    },
    channels: {
      board: {
        address: '/ws/boards/{board_id}',
        parameters: { board_id: { description: 'The board.' } },
        bindings: {
          ws: {
            query: {
              type: 'object',
              required: ['token'],
              properties: {
                token: { type: 'string' },
                seq: { type: 'string', enum: ['1'] },
                since: { type: 'string' },
              },
            },
          },
        },
        messages: Object.fromEntries(
          [...names, 'pong'].map((name) => [name, { $ref: `#/components/messages/${name}` }]),
        ),
      },
    },
    operations: {
      receive: operation(
        'send',
        'Messages of the server',
        'Events in the order of the board, presence and heartbeats.',
        names,
      ),
      answer: operation('receive', 'Messages of the client', 'The reply to a ping. Others are ignored.', ['pong']),
    },
    components: {
      messages,
      schemas: components.schemas,
      securitySchemes: { token: { type: 'httpApiKey', in: 'query', name: 'token' } },
    },
  }
}

const operation = (action: 'send' | 'receive', summary: string, description: string, names: string[]) => ({
  action,
  summary,
  description,
  channel: { $ref: '#/channels/board' },
  security: [{ $ref: '#/components/securitySchemes/token' }],
  messages: names.map((name) => ({ $ref: `#/channels/board/messages/${name}` })),
})
