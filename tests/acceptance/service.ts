import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { demand, fits } from './demand.ts'
import { Listener } from './listener.ts'
import {
  type Board,
  type Card,
  type Checklist,
  type ChecklistItem,
  type Column,
  type Label,
  User,
} from './resources.ts'

export interface ApiResponse {
  status: number
  headers: Headers
  /** The parsed JSON, or undefined when there is none. */
  body: unknown
  bytes: Buffer
}
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Content = FormData | URLSearchParams | object | undefined

export const PASSWORD = 'hush-hush Correct-horse-9'
const NEVER = /^(hashed_password|blob)$/
const HASH = /^\$argon2/

/** The service that is judged, seen from outside: an address, and nothing more. */
export class Service {
  readonly baseUrl: string
  /** A second instance of the same service, if there is one. */
  readonly besideUrl: string | undefined
  /** Where something was said that must never be said. */
  readonly leaks: { what: string; where: string }[] = []
  readonly anybody: Caller
  private readonly made = new Map<unknown, Promise<unknown>>()

  constructor(baseUrl: string, besideUrl?: string) {
    this.baseUrl = baseUrl.replace(/\/$/, '')
    this.besideUrl = besideUrl?.replace(/\/$/, '')
    this.anybody = new Caller(this, undefined)
  }

  /** Creates something once for all rows that need it. */
  once<T>(make: (service: Service) => Promise<T>): Promise<T> {
    if (!this.made.has(make)) this.made.set(make, make(this))
    return this.made.get(make) as Promise<T>
  }

  /** Registers a new user and logs in. */
  async person(): Promise<Person> {
    const username = `user-${randomBytes(6).toString('hex')}`
    const email = `${username}@example.com`
    const user = await this.anybody.post('/auth/register', { email, username, password: PASSWORD })
    // Without an id, rows about this user would compare undefined with undefined.
    fits(User, user, 'the registered user')
    return new Person(this, user, await this.token(email))
  }

  async token(email: string, password = PASSWORD): Promise<string> {
    const form = new URLSearchParams({ username: email, password })
    const { access_token } = await this.anybody.post<{ access_token?: unknown }>('/auth/login', form)
    demand(typeof access_token === 'string', 'login returns no access_token')
    return access_token
  }

  /** Looks into all that the service says, for the rows about what it must never say. */
  overhear(where: string, value: unknown, key = '') {
    if (NEVER.test(key)) this.leaks.push({ what: key, where })
    if (typeof value === 'string' && HASH.test(value)) this.leaks.push({ what: 'hashed_password', where })
    if (typeof value !== 'object' || value === null) return
    for (const [name, inner] of Object.entries(value)) this.overhear(where, inner, name)
  }
}

/** An HTTP client of the service, with or without a token. */
export class Caller {
  readonly service: Service
  readonly token: string | undefined

  constructor(service: Service, token: string | undefined) {
    this.service = service
    this.token = token
  }

  /** Sends a request and returns any response. Form and multipart bodies set their own content type. */
  async send(
    method: Method,
    path: string,
    content?: Content,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const isForm = content instanceof FormData || content instanceof URLSearchParams
    const response = await fetch(this.service.baseUrl + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.token !== undefined && { authorization: `Bearer ${this.token}` }),
        ...(content !== undefined && !isForm && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(content !== undefined && { body: isForm ? content : JSON.stringify(content) }),
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    // The specification has no rate limits; a service with rate limits sends Retry-After.
    const retryAfterS = Number(response.headers.get('retry-after'))
    if (response.status === 429 && retryAfterS > 0) {
      await pause(retryAfterS * 1_000)
      return this.send(method, path, content, headers)
    }
    const isJson = response.headers.get('content-type')?.includes('json') ?? false
    const body: unknown = isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : undefined
    this.service.overhear(`${method} ${path.split('?')[0]}`, body)
    return { status: response.status, headers: response.headers, body, bytes }
  }

  /** Expects success, of which the specification mostly does not give the exact status. */
  private async succeed<T>(method: Method, path: string, content?: Content): Promise<T> {
    const { status, body, bytes } = await this.send(method, path, content)
    demand(status >= 200 && status < 300, `${method} ${path} returns ${status} ${bytes.toString().slice(0, 200)}`)
    return body as T
  }
  get = <T>(path: string) => this.succeed<T>('GET', path)
  post = <T>(path: string, content?: Content) => this.succeed<T>('POST', path, content)
  put = <T>(path: string, content?: Content) => this.succeed<T>('PUT', path, content)
  patch = <T>(path: string, content?: Content) => this.succeed<T>('PATCH', path, content)
  delete = (path: string) => this.succeed<unknown>('DELETE', path)

  /** Expects a rejection with one of the statuses, and returns its detail (part 7: a message string). */
  async rejected(statuses: number | number[], method: Method, path: string, content?: Content): Promise<string> {
    const { status, body, bytes } = await this.send(method, path, content)
    const said = `${method} ${path} returns ${status} ${bytes.toString().slice(0, 200)}`
    demand([statuses].flat().includes(status), `${said} instead of ${[statuses].flat().join(' or ')}`)
    const { detail } = (body ?? {}) as { detail?: unknown }
    demand(typeof detail === 'string' && detail !== '', `${said} without a detail string`)
    return detail
  }

  /** Expects a rejection whose status and body the specification leaves open. */
  async refusedSomehow(method: Method, path: string, content?: Content, headers: Record<string, string> = {}) {
    const { status } = await this.send(method, path, content, headers)
    demand(status >= 400 && status < 500, `${method} ${path} returns ${status}, which is not a rejection`)
  }
}

/** A registered user. */
export class Person extends Caller {
  readonly id: string
  readonly user: User
  declare readonly token: string

  constructor(service: Service, user: User, token: string) {
    super(service, token)
    this.id = user.id
    this.user = user
  }

  /** Follows a board. Settles when the socket takes part. */
  follow = (board_id: string, options: { pongs?: boolean; at?: string } = {}) =>
    Listener.follow(this.service, board_id, { token: this.token, ...options })

  newLabel = (board_id: string, name = 'Urgent') =>
    this.post<Label>(`/boards/${board_id}/labels`, { name, color: '#aa0000' })
  newColumn = (board_id: string, more: object = {}) =>
    this.post<Column>(`/boards/${board_id}/columns`, { title: 'To do', ...more })
  newCard = ({ board_id, id }: { board_id: string; id: string }, more: object = {}) =>
    this.post<Card>(`/boards/${board_id}/columns/${id}/cards`, { title: 'Card', ...more })
  newChecklist = (card_id: string, title = 'Steps') => this.post<Checklist>(`/cards/${card_id}/checklists`, { title })
  newItem = (checklist_id: string, content = 'One') =>
    this.post<ChecklistItem>(`/checklists/${checklist_id}/items`, { content })
}

/**
 * Three users that most rows share, since registration and login are slow on purpose. Rows that change a user, or
 * count their data, create their own.
 */
export async function cast(service: Service) {
  const [owner, member, nonMember] = await Promise.all([service.person(), service.person(), service.person()])
  return { owner, member, nonMember }
}

export interface Stage {
  board_id: string
  /** A path on the board: `at('/labels')`. */
  at: (path?: string) => string
  owner: Person
  member: Person
  /** Registered, and not a member of the board. */
  nonMember: Person
  todo: Column
  done: Column
}

/** A board of the row's own, with an owner, a member and two columns. */
export async function newStage(service: Service): Promise<Stage> {
  const people = await service.once(cast)
  const { owner, member } = people
  const { id: board_id } = await owner.post<Board>('/boards', { title: 'Plan' })
  await owner.post(`/boards/${board_id}/invite`, { user_id: member.id })
  const todo = await owner.newColumn(board_id)
  const done = await owner.newColumn(board_id, { title: 'Done', is_done_column: true })
  return { ...people, board_id, at: (path = '') => `/boards/${board_id}${path}`, todo, done }
}
