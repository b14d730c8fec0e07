import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import type { ProblemCode } from './problems.ts'
import type { AuthoredResource, Effect, Resource } from './resources.ts'

export const Uuid = Type.String({ format: 'uuid' })
export const Timestamp = Type.String({ format: 'date-time' })
/** A calendar day without a time zone: the same day for everyone. */
export const Day = Type.String({ format: 'date' })
/** Free text that may be empty. */
export const Text = (maxLength: number) => Type.String({ format: 'text', maxLength })
/** Free text with at least one visible character. */
export const VisibleText = (maxLength: number) => Type.String({ format: 'visible-text', minLength: 1, maxLength })
export const Title = VisibleText(255)
/** The length limit of a color. It also tells colors from text that users type. */
export const COLOR_LENGTH = 32
export const Color = Text(COLOR_LENGTH)
/** The default color of a column or a label. */
export const DEFAULT_COLOR = '#6b7280'
export const Rank = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })

export const Nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
/** An optional input; `null` is the same as leaving it out. The default is that of the created resource; null if there is none. */
export const Optional = <S extends TSchema>(schema: S, value?: Static<S>) =>
  Type.Optional(Type.Union([schema, Type.Null()], value === undefined ? {} : { default: value }))
/** The body of a PATCH: fields that are left out do not change. */
export const Changes = <P extends TProperties>(fields: P) => Type.Partial(Type.Object(fields))

/** The client may choose the id of a new object, so that it can show the object before the response (optimistic update). */
export const NewId = { id: Optional(Uuid) }
/** The position of an item in its list; last by default. `after_id` has priority. If that item is gone, `position` is used, else last. */
export const Place = {
  position: Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Index in the target list, not counting the moved item. Past the end means last.',
    }),
  ),
  after_id: Type.Optional(
    Type.Union([Uuid, Type.Null()], {
      description: 'The item that precedes it; null means first. Has priority over `position`.',
    }),
  ),
}

/** The same where it is required: `position`, `after_id`, or both. */
export const REQUIRED_PLACE = '`position` or `after_id` is required. If both are sent, `after_id` has priority.'
export const RequiredPlace = Type.Object(Place, {
  anyOf: [{ required: ['position'], properties: { position: { type: 'integer' } } }, { required: ['after_id'] }],
})

/** The day on which `cursor` replaced all other parameters for paging. */
export const PAGING_DAY = '2026-11-17'

/**
 * The query parameters with which every list is read page by page. `default` is the usual size of a page; without it, the list
 * is returned whole unless one of the parameters is sent.
 */
export const Paging = (bounds: { default?: number; maximum?: number; format?: 'cursor' | 'position' } = {}) => ({
  cursor: Type.Optional(
    Type.String({ format: bounds.format ?? 'cursor', description: 'From the `Link` of the previous page.' }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: bounds.maximum ?? 100,
      ...(bounds.default === undefined
        ? { description: 'The size of a page. Without `limit` and `cursor`, the list is returned whole.' }
        : { default: bounds.default, description: 'The size of a page.' }),
    }),
  ),
})

/** The bytes of a file, in a request or a response. */
export const Bytes = Type.Unsafe<Blob>({ type: 'string', format: 'binary' })

/** Names a schema after its interface: documents list it as a component, and type errors show the name. */
export const named = <T>(title: string, schema: TSchema) => Type.Unsafe<T>({ ...schema, title })

export type Role = 'owner' | 'member'
export interface BoardAccess {
  on: Resource
  role: Role
  /** Members may also do it to themselves: when the path parameter `user_id` is their own id. */
  or_self?: true
  /** A change that is also possible on an archived board. */
  when_archived?: true
  /** `only`: nobody but the author of the resource, who must be a member. `or`: the author too. */
  author?: 'only' | 'or'
}
/**
 * Who may call an operation. There is no default: leaving it out does not compile. Operations for superusers exist only if the
 * operator enabled them, and never concern a board.
 */
export type Access = 'public' | 'authenticated' | 'superuser' | BoardAccess
export const member = <const R extends Resource>(on: R) => ({ on, role: 'member' }) as const
export const owner = <const R extends Resource>(on: R) => ({ on, role: 'owner' }) as const
export const ownerOrSelf = <const R extends Resource>(on: R) => ({ on, role: 'owner', or_self: true }) as const
/** The same on an archived board too, on which other changes are rejected. */
export const evenArchived = <const A extends BoardAccess>(access: A) => ({ ...access, when_archived: true }) as const
export const author = <const R extends AuthoredResource>(on: R) => ({ on, role: 'member', author: 'only' }) as const
export const ownerOrAuthor = <const R extends AuthoredResource>(on: R) => ({ on, role: 'owner', author: 'or' }) as const

/** What an access token may do: read; also change what members may change; also do what only owners may do. */
export const scopes = ['read', 'write', 'admin'] as const
export type Scope = (typeof scopes)[number]
/** What an operation requires of an access token. */
export interface TokenRequirement {
  scope: Scope
  /** Whether a token that is limited to one board may call it. */
  board_tokens: boolean
}

/** The sections of the API documentation. */
export const tags = {
  authentication: 'Accounts, sessions and passwords.',
  users: 'Searching for other users.',
  health: 'Health checks, for monitoring and load balancers.',
  boards: 'A board holds ordered columns, labels and members.',
  members: 'The users who may see and change a board. Owners invite and remove members; members may leave.',
  columns: 'A column holds ordered cards.',
  cards: 'A card is a task. It has assignees, labels, checklists and attachments.',
  checklists: 'Checklists of a card, and their items.',
  comments: 'Comments of a card. Members write them, and may mention each other.',
  attachments: 'Files that belong to a card.',
  labels: 'Labels of a board, which its cards can have.',
  inbox: 'What concerns you on all your boards: mentions, assignments and new boards.',
  removals: 'Cards and columns that were archived or deleted. Deleted ones are kept for some time.',
  automations: 'Rules that react to changes of cards, in the same transaction.',
  realtime: 'Presence, and the event log of a board.',
  webhooks:
    'Receivers of the events of a board over HTTP: in order, signed, and repeated until they are accepted. 403 `webhooks_off` if the operator has not set `ENCRYPTION_KEY`.',
  tokens:
    'Access tokens for programs. These paths are 404 if the operator has set `ACCESS_TOKENS=off`. No access token can call them.',
  administration:
    'Accounts, statistics and the audit log, for superusers. These paths are 404 unless the operator has set `ADMIN_API=on`.',
} as const
export type Tag = keyof typeof tags

export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: `/${string}`
  tag: Tag
  summary: string
  description: string
  access: Access
  /** Overrides what access tokens need by default (`tokenRequirementOf`). `never`: no access token may call it. */
  token?: 'never' | TokenRequirement
  /** The response contains a secret: it must not be cached. Changes of boards cannot have one, because their responses are stored. */
  is_secret?: true
  params?: TObject
  query?: TObject
  /** Query parameters that still work and will be removed, with the day on which they were deprecated. */
  deprecated?: Readonly<Record<string, string>>
  /** A list without a next page. All other lists have `Paging`. */
  is_unpaged?: true
  body?: TSchema
  /** The format of the body; JSON by default. An upload is a multipart form with one file. */
  body_type?: 'json' | 'form' | 'upload'
  returns: { status: 200 | 201 | 204; schema: TSchema }
  /** Headers that some of its successful responses have, besides those that follow from its other properties (`headers.ts`). */
  headers?: readonly ('Set-Cookie' | 'Board-Position')[]
  /** Additional fields of a 503 of this operation. */
  unavailable_fields?: TObject
  /** The kinds of events that a change may emit. Present, even if empty, on every operation that changes a board. */
  emits?: readonly string[]
  /** What a change does. The client predicts it, and the server builds its statements from it. */
  effect?: Effect
  /** The problems of this operation, besides those that follow from its access and inputs. */
  problems?: readonly ProblemCode[]
}
export const operation = <const O extends Operation>(o: O) => o

interface Requirements {
  required?: readonly string[]
  anyOf?: readonly Requirements[]
}
const requiresField = ({ required = [], anyOf = [] }: Requirements): boolean =>
  required.length > 0 || (anyOf.length > 0 && anyOf.every(requiresField))
/** Whether a body must be sent, because a field of it is required. Otherwise an absent body counts as `{}`. */
export const isBodyRequired = ({ body = {}, body_type }: Operation) =>
  body_type === 'upload' || requiresField(body as Requirements)

/** Whether an operation returns a list. */
export const isList = ({ returns }: Operation) => (returns.schema as { type?: string }).type === 'array'
/** Whether an operation returns a list page by page. */
export const isPaged = ({ query }: Operation) => query !== undefined && 'cursor' in query.properties

/**
 * What an access token needs to call an operation. By default, what only owners may do needs `admin`, other reads `read`, and
 * the rest `write`; tokens of one board may call only operations on a board.
 */
export function tokenRequirementOf({ access, method, token }: Operation): TokenRequirement | 'never' {
  if (token) return token
  if (access === 'superuser') return 'never'
  const isForOwners = typeof access !== 'string' && access.role === 'owner' && !access.or_self && !access.author
  const scope = isForOwners ? 'admin' : method === 'GET' ? 'read' : 'write'
  return { scope, board_tokens: typeof access !== 'string' }
}

/** The response to a DELETE: 204 without a body. */
export const nothing = { status: 204, schema: Type.Undefined() } as const
export const Message = named<{ detail: string }>('Message', Type.Object({ detail: Type.String() }))

type StaticOr<S, Otherwise> = S extends TSchema ? Static<S> : Otherwise
export type Params<O extends Operation> = StaticOr<O['params'], Record<never, never>>
export type Query<O extends Operation> = StaticOr<O['query'], Record<never, never>>
export type Body<O extends Operation> = StaticOr<O['body'], undefined>
export type Returns<O extends Operation> = Static<O['returns']['schema']>
export type Emits<O extends Operation> = O extends { emits: readonly (infer K)[] } ? K : never

/** JSON text of a `T`. PostgreSQL builds it; it is passed on to the response, the log and the sockets without parsing. */
declare const content: unique symbol
export type JsonText<T> = string & { readonly [content]: T }
