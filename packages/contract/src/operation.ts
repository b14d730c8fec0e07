import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import type { ProblemCode } from './problems.ts'

export const Uuid = Type.String({ format: 'uuid' })
export const Timestamp = Type.String({ format: 'date-time' })
/** Free text that may be empty. */
export const Text = (maxLength: number) => Type.String({ format: 'text', maxLength })
/** Free text in which a reader can see something. */
export const VisibleText = (maxLength: number) => Type.String({ format: 'visible-text', minLength: 1, maxLength })
export const Title = VisibleText(255)
export const Color = Text(32)
/** What a column or a label looks like unless said. */
export const DEFAULT_COLOR = '#6b7280'
export const Rank = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })

export const Nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
/** An input that may be left out; `null` means the same. */
export const Optional = <S extends TSchema>(schema: S) => Type.Optional(Nullable(schema))
/** The body of a PATCH: what is left out stays as it is. */
export const Changes = <P extends TProperties>(fields: P) => Type.Partial(Type.Object(fields))

/** Every create but registration lets the client make the id, so that it can show the object before the answer. */
export const NewId = { id: Optional(Uuid) }
/** Where an item goes in its list, last unless said. The anchor wins; one that has vanished falls back to the position, else last. */
export const Place = {
  position: Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Index in the target list without the moved item; past the end means last.',
    }),
  ),
  after_id: Type.Optional(
    Type.Union([Uuid, Type.Null()], { description: 'The item to come after; null means first. Wins over position.' }),
  ),
}

/** Where an item goes when it must be said: a position, an anchor, or both. */
export const REQUIRED_PLACE = '`position` or `after_id` is required. When both are sent, `after_id` decides.'
export const RequiredPlace = Type.Object(Place, {
  anyOf: [{ required: ['position'], properties: { position: { type: 'integer' } } }, { required: ['after_id'] }],
})

/** The bytes of a file, in a request or in an answer. */
export const Bytes = Type.Unsafe<Blob>({ type: 'string', format: 'binary' })

/** Gives a schema the name of its interface: documents list it as a component, type errors print the name alone. */
export const named = <T>(title: string, schema: TSchema) => Type.Unsafe<T>({ ...schema, title })

export type Role = 'owner' | 'member'
/** What an operation can be about. Its id is the path parameter `<resource>_id`, and it belongs to one board. */
export type Resource = 'board' | 'column' | 'card' | 'label' | 'checklist' | 'item' | 'attachment' | 'rule'
export interface BoardAccess {
  on: Resource
  role: Role
  /** A member may also do it when the path parameter `user_id` names himself. */
  or_self?: true
}
/**
 * Who may call an operation. There is no default: leaving it out does not compile. What is for superusers exists only where
 * the operator has enabled it, and is never about a board.
 */
export type Access = 'public' | 'authenticated' | 'superuser' | BoardAccess
export const member = <const R extends Resource>(on: R) => ({ on, role: 'member' }) as const
export const owner = <const R extends Resource>(on: R) => ({ on, role: 'owner' }) as const
export const ownerOrSelf = <const R extends Resource>(on: R) => ({ on, role: 'owner', or_self: true }) as const

/** The parts of the API, as the documentation divides it. */
export const tags = {
  authentication: 'Accounts, sessions and passwords.',
  users: 'Finding other people.',
  health: 'For whoever watches over the service.',
  boards: 'A board holds ordered columns, labels and members.',
  members: 'Who may see and change a board. Owners invite and remove; anybody may leave.',
  columns: 'A column holds ordered cards.',
  cards: 'What there is to do, and who does it.',
  checklists: 'What must be done for a card, item by item.',
  attachments: 'Files that belong to a card.',
  labels: 'Marks that cards of a board can carry.',
  automations: 'Rules that answer what happens to a card, in the same change.',
  realtime: 'What happens on a board, as it happens and afterwards.',
  administration:
    'Accounts, figures and the audit log, for superusers alone. Only where the operator has set `ADMIN_API=on`; else these paths are 404.',
} as const
export type Tag = keyof typeof tags

export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: `/${string}`
  tag: Tag
  summary: string
  description?: string
  access: Access
  params?: TObject
  query?: TObject
  body?: TSchema
  /** How the body is written; JSON unless said otherwise. An upload is a form of several parts, one of them a file. */
  body_type?: 'json' | 'form' | 'upload'
  returns: { status: 200 | 201 | 204; schema: TSchema }
  /** What a 503 of this operation carries beside `detail` and `code`. */
  unavailable_fields?: TObject
  /** The event kinds a change may emit. Present, even when empty, on every operation that changes a board. */
  emits?: readonly string[]
  /** The problems this operation knows besides those that follow from its access and its inputs. */
  problems?: readonly ProblemCode[]
}
export const operation = <const O extends Operation>(o: O) => o

/** The answer of every DELETE: 204 and no body. */
export const nothing = { status: 204, schema: Type.Undefined() } as const
export const Message = named<{ detail: string }>('Message', Type.Object({ detail: Type.String() }))

type StaticOr<S, Otherwise> = S extends TSchema ? Static<S> : Otherwise
export type Params<O extends Operation> = StaticOr<O['params'], Record<never, never>>
export type Query<O extends Operation> = StaticOr<O['query'], Record<never, never>>
export type Body<O extends Operation> = StaticOr<O['body'], undefined>
export type Returns<O extends Operation> = Static<O['returns']['schema']>
export type Emits<O extends Operation> = O extends { emits: readonly (infer K)[] } ? K : never

/** JSON text of a `T`, as PostgreSQL built it: passed on to the answer, the log and the sockets without parsing. */
declare const content: unique symbol
export type JsonText<T> = string & { readonly [content]: T }
