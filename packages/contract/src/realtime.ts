import Type, { type Static, type TSchema } from 'typebox'
import { member, Nullable, named, operation, Timestamp, Uuid } from './operation.ts'

/** Version of the event schema, on every event. It stays while changes only add. */
export const EVENT_VERSION = '1.0'

export const HEARTBEAT_SECONDS = 30
export const PONG_SECONDS = 10
export const PRESENCE_SECONDS = 60
/** The largest message that a client may send, and how many within ten seconds. All but `pong` are ignored. */
export const MAX_MESSAGE_BYTES = 65_536
export const MAX_MESSAGES = 1_000

/** Why the server closes a socket, and what a client should do then. */
export const closeCodes = {
  board_deleted: { code: 1000, help: 'The board was deleted. Stop.' },
  refused: {
    code: 1008,
    help: 'The token is bad or has expired, its user is inactive or not a member of the board, the page comes from a foreign origin, or a message came in more than 1,024 fragments. Do not come back with the same token.',
  },
  restart: {
    code: 1012,
    help: 'The instance goes, or the board was restored. Come back within a few seconds, with `since`.',
  },
  try_later: {
    code: 1013,
    help: 'The client reads too slowly or sent more than 1,000 messages within 10 seconds, or there are too many connections. Come back after 5 to 30 seconds, with `since`.',
  },
  no_pong: { code: 4408, help: 'No pong came within 10 seconds. Come back, with `since`.' },
} as const
/** What closes a socket because of the frames that a client sent, and is decided by the WebSocket protocol. */
export const protocolCodes = [
  { code: 1002, help: 'The client broke the WebSocket protocol: a frame without a mask, an unknown opcode.' },
  { code: 1007, help: 'A text message is not valid UTF-8.' },
  { code: 1009, help: 'A message is larger than 64 KiB.' },
] as const
export type CloseReason = keyof typeof closeCodes

/** An event as sockets get it: exactly these fields, and `seq` for who asked for it. */
export const eventEnvelope = (type: TSchema, data: TSchema) =>
  Type.Object({ type, data, user_id: Nullable(Uuid), timestamp: Timestamp, version: Type.Literal(EVENT_VERSION) })

const loggedShape = Type.Object({
  seq: Type.Integer({ minimum: 1 }),
  actor_id: Type.Optional(
    Type.Union([Uuid, Type.Null()], {
      description:
        'Who caused the event, also where `user_id` is null because it follows from another change, such as the removal of a member. Only in the log, never on sockets.',
    }),
  ),
  type: Type.String(),
  data: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
  user_id: Nullable(Uuid),
  timestamp: Timestamp,
  version: Type.String(),
})
/** An event of the board's log, with its number. */
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
    description: 'For any authenticated user. Without Redis it is the view of the instance that answers.',
    access: 'authenticated',
    params: BoardPath,
    returns: { status: 200, schema: Presence },
    problems: ['board_not_found'],
  }),
  listEvents: operation({
    method: 'GET',
    path: '/boards/{board_id}/events',
    tag: 'realtime',
    summary: 'Read the log of a board: its history, and what a client missed',
    description:
      'In order, behind the position `after` (`<epoch>.<seq>`, or a number alone); `Link` leads to the next page. `Board-Position` is where the board stands. 410 when events behind `after` are no longer kept: load the board instead.',
    access: member('board'),
    params: BoardPath,
    query: Type.Object({
      after: Type.Optional(Type.String({ format: 'position', default: '0' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
    }),
    returns: { status: 200, schema: Type.Array(LoggedEvent) },
    problems: ['history_gone'],
  }),
}
