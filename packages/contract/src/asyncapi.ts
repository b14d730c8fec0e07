import Type, { type TSchema } from 'typebox'
import { Components, type Json } from './components.ts'
import { events } from './index.ts'
import { Uuid } from './operation.ts'
import { closeCodes, eventEnvelope, HEARTBEAT_SECONDS, OnlineUser, PONG_SECONDS, protocolCodes } from './realtime.ts'

const description = `One socket for each board. It brings every event of the board in the order of the commits, without a gap, once.

**Opening.** \`token\` is an access token or a ticket (\`POST /auth/ticket\`). A connection that is refused is opened and closed
with 1008, so that a browser sees why.

**Resuming.** With \`?seq=1\` or \`?since=<epoch>.<seq>\` events and pings carry \`seq\`, and the first message is \`hello\` with the
board's position. \`since\` is the position of the last event that was seen, or the \`Board-Position\` of a loaded board: what was missed
comes first, then what happens. \`resync\` says that it is no longer kept: load the board, and go on.

**Heartbeat.** Every ${HEARTBEAT_SECONDS} seconds comes a \`ping\`; answer \`{"type":"pong"}\` within ${PONG_SECONDS} seconds.

**What a client sends.** Only \`pong\` has a meaning. Any other message, text or binary, is ignored.

**Own changes.** Recognise them by position: every write answers \`Board-Position\`. Skipping events by one's own \`user_id\` loses
the changes that the same user makes in another tab.

| Code | What it means |
|---|---|
${[...Object.values(closeCodes), ...protocolCodes]
  .toSorted((a, b) => a.code - b.code)
  .map(({ code, help }) => `| ${code} | ${help} |`)
  .join('\n')}`

const type = (name: string) => Type.Literal(name)
const seq = Type.Optional(Type.Integer({ description: 'Only with `seq=1` or `since`.' }))
const position = { epoch: Type.Integer(), seq: Type.Integer() }

/** Every message that the server sends, by name. */
const sent: Record<string, { summary: string; payload: TSchema }> = {
  hello: {
    summary: 'The first message, for who asked for numbers: where the board stands',
    payload: Type.Object({ type: type('hello'), ...position }),
  },
  resync: {
    summary: 'What was missed is no longer kept: load the board',
    payload: Type.Object({ type: type('resync'), ...position }),
  },
  ping: { summary: 'The heartbeat', payload: Type.Object({ type: type('ping'), board_id: Uuid, seq }) },
  user_joined: {
    summary: 'A user connected; also told to the connection itself',
    payload: Type.Object({ type: type('user_joined'), ...properties(OnlineUser) }),
  },
  user_left: {
    summary: "A user's last connection went",
    payload: Type.Object({ type: type('user_left'), ...properties(OnlineUser) }),
  },
  ...Object.fromEntries(
    Object.entries(events).map(([kind, data]) => [
      kind,
      {
        summary: `${kind.replaceAll(/[._]/g, ' ')}`,
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

/** The AsyncAPI 3 document of the socket: a pure function of the contract. */
export function asyncApi(): Json {
  const components = new Components()
  const names = Object.keys(sent)
  const messages = Object.fromEntries(
    Object.entries({
      ...sent,
      pong: { summary: 'The answer to a ping', payload: Type.Object({ type: type('pong') }) },
    }).map(([name, { summary, payload }]) => [
      name,
      { name, summary, contentType: 'application/json', payload: components.reference(payload) },
    ]),
  )
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Lockstep real time',
      version: '0.1.0',
      description,
      license: { name: 'Apache 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: { this: { host: 'localhost:8000', protocol: 'ws' } },
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
      receive: operation('send', 'What the server sends', names),
      answer: operation('receive', 'What a client answers', ['pong']),
    },
    components: {
      messages,
      schemas: components.schemas,
      securitySchemes: { token: { type: 'httpApiKey', in: 'query', name: 'token' } },
    },
  }
}

const operation = (action: 'send' | 'receive', summary: string, names: string[]) => ({
  action,
  summary,
  channel: { $ref: '#/channels/board' },
  security: [{ $ref: '#/components/securitySchemes/token' }],
  messages: names.map((name) => ({ $ref: `#/channels/board/messages/${name}` })),
})
