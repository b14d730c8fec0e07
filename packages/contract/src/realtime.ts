import Type, { type Static, type TSchema } from 'typebox'
import { member, Nullable, named, operation, Paging, Timestamp, Uuid } from './operation.ts'

/** Version of the event schema, in every event. It changes only with an incompatible change. */
export const EVENT_VERSION = '1.0'

/** Only clients that asked for `seq` or `since` receive these: the specification does not have them. */
export const isAddedKind = (type: string) => type.startsWith('comment.')

export const HEARTBEAT_SECONDS = 30
export const PONG_SECONDS = 10
export const PRESENCE_SECONDS = 60
/** The largest message of a client, and the most messages in ten seconds. All except `pong` are ignored. */
export const MAX_MESSAGE_BYTES = 65_536
export const MAX_MESSAGES = 1_000

/** Why the server closes a socket, and what the client should do. */
export const closeCodes = {
  board_deleted: { code: 1000, help: 'The board was deleted. Do not reconnect.' },
  refused: {
    code: 1008,
    help: 'The token is invalid or has expired, its user is inactive or not a member of the board, the page has a foreign origin, or a message had more than 1,024 fragments. Do not reconnect with the same token.',
  },
  restart: {
    code: 1012,
    help: 'The instance is shutting down, or the board was restored. Reconnect within a few seconds, with `since`.',
  },
  try_later: {
    code: 1013,
    help: 'The client reads too slowly, it sent more than 1,000 messages within 10 seconds, or there are too many connections. Reconnect after 5 to 30 seconds, with `since`.',
  },
  no_pong: { code: 4408, help: 'No pong arrived within 10 seconds. Reconnect, with `since`.' },
} as const
/** Close codes of the WebSocket protocol, for invalid frames. */
export const protocolCodes = [
  {
    code: 1002,
    help: 'The client violated the WebSocket protocol, for example by a frame without a mask or an unknown opcode.',
  },
  { code: 1007, help: 'A text message is not valid UTF-8.' },
  { code: 1009, help: 'A message is larger than 64 KiB.' },
] as const
export type CloseReason = keyof typeof closeCodes

/** An event on a socket: exactly these fields, and `seq` if the client requested it. */
export const eventEnvelope = (type: TSchema, data: TSchema) =>
  Type.Object({ type, data, user_id: Nullable(Uuid), timestamp: Timestamp, version: Type.Literal(EVENT_VERSION) })

const loggedShape = Type.Object({
  seq: Type.Integer({ minimum: 1 }),
  actor_id: Type.Optional(
    Type.Union([Uuid, Type.Null()], {
      description:
        'The user who caused the event, also where `user_id` is null because the event is a consequence of another change, such as the removal of a member. Only in the log, never on sockets.',
    }),
  ),
  type: Type.String(),
  data: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
  user_id: Nullable(Uuid),
  timestamp: Timestamp,
  version: Type.String(),
})
/** An event of the board's log, with its sequence number. */
export interface LoggedEvent extends Static<typeof loggedShape> {}
export const LoggedEvent = named<LoggedEvent>('LoggedEvent', loggedShape)

const onlineShape = Type.Object({ user_id: Uuid, username: Type.String() })
export interface OnlineUser extends Static<typeof onlineShape> {}
export const OnlineUser = named<OnlineUser>('OnlineUser', onlineShape)
const presenceShape = Type.Object({ board_id: Uuid, online_users: Type.Array(OnlineUser) })
export interface Presence extends Static<typeof presenceShape> {}
export const Presence = named<Presence>('Presence', presenceShape)

const BoardPath = Type.Object({ board_id: Uuid })

export const realtimeOperations = {
  getPresence: operation({
    method: 'GET',
    path: '/ws/boards/{board_id}/presence',
    tag: 'realtime',
    summary: 'List the users who are connected to a board',
    description: 'For any authenticated user. Without Redis, only users of the instance that handles the request.',
    access: 'authenticated',
    token: { scope: 'read', board_tokens: true },
    params: BoardPath,
    returns: { status: 200, schema: Presence },
    problems: ['board_not_found'],
  }),
  listEvents: operation({
    method: 'GET',
    path: '/boards/{board_id}/events',
    tag: 'realtime',
    summary: 'Read the event log of a board',
    description:
      'Events in order, after the position `after` (`<epoch>.<seq>`, or a number alone). `Link` is the next page. `Board-Position` is the current position of the board. 410 when events after `after` are no longer available: load the board instead.',
    access: member('board'),
    params: BoardPath,
    query: Type.Object({
      after: Type.Optional(
        Type.String({ format: 'position', default: '0', description: 'Where to start. `cursor` has priority.' }),
      ),
      ...Paging({ default: 100, maximum: 500, format: 'position' }),
    }),
    returns: { status: 200, schema: Type.Array(LoggedEvent) },
    problems: ['history_gone'],
  }),
  listCardEvents: operation({
    method: 'GET',
    path: '/boards/{board_id}/cards/{card_id}/events',
    tag: 'realtime',
    summary: 'Read the history of a card, newest first',
    description:
      'The events of the card, its checklists, items, attachments and comments, as far as the log is kept, also after the card was deleted. `Link` is the next page, with older events. A card that was only re-spaced to make room for another one has no event here. The history of a card of another board is empty.',
    access: member('board'),
    params: Type.Object({ board_id: Uuid, card_id: Uuid }),
    query: Type.Object(Paging({ default: 50, maximum: 200 })),
    returns: { status: 200, schema: Type.Array(LoggedEvent) },
  }),
}
