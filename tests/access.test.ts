import { randomUUID } from 'node:crypto'
import { operations } from '@lockstep/contract'
import {
  author,
  evenArchived,
  member,
  type Operation,
  owner,
  ownerOrAuthor,
  ownerOrSelf,
  type Scope,
  scopes,
  tokenRequirementOf,
} from '@lockstep/contract/operation'
import { type ProblemCode, problems } from '@lockstep/contract/problems'
import { Client, type Failure, sendingOf } from '@lockstep/testing/client'
import {
  accepts,
  CANARY,
  everyParam,
  fieldAttacks,
  furnish,
  type Input,
  type Known,
  lastChange,
  newTargets,
  paramsIn,
  validInput,
} from '@lockstep/testing/input-generator'
import { oneOfEach, REPEAT } from '@lockstep/testing/sample'
import { PASSWORD, startService, type TestService, type TestUser } from '@lockstep/testing/service'
import { WebhookReceiver } from '@lockstep/testing/webhook-receiver'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** Access tokens of the owner. Those of a board are of one of the owner's boards. */
const ownerTokens = {
  'read token': { scope: 'read', board: null },
  'write token': { scope: 'write', board: null },
  'admin token': { scope: 'admin', board: null },
  'token of this board': { scope: 'admin', board: 'this' },
  'token of another board': { scope: 'admin', board: 'another' },
  'expired token': { scope: 'admin', board: null },
  'revoked token': { scope: 'admin', board: null },
} as const
type OwnerToken = keyof typeof ownerTokens
const isOwnerToken = (actor: Actor): actor is OwnerToken => actor in ownerTokens

/**
 * All kinds of callers. The deactivated user is an owner in the database, and only rejected because of the
 * deactivation. The author is a member who wrote the comment of the own board. The demoted user has an `admin` token from the time
 * as an owner.
 */
const actors = [
  'anonymous',
  'bad token',
  'deactivated',
  'non-member',
  'ex-member',
  'superuser',
  'member',
  'author',
  'owner',
  ...(Object.keys(ownerTokens) as OwnerToken[]),
  'demoted token',
] as const
type Actor = (typeof actors)[number]
/** `own`: the board on which the actors have their roles. `archived`: such a board after it was archived. `foreign`: a board of another user. */
type BoardKind = 'own' | 'archived' | 'foreign'
/** The user in the path parameter `user_id`. */
type Subject = 'another' | 'self'
interface Cell {
  actor: Actor
  board: BoardKind
  subject: Subject
}
type Refusal = Extract<
  ProblemCode,
  | 'not_authenticated'
  | 'superuser_only'
  | 'not_a_member'
  | 'role_too_low'
  | 'not_the_author'
  | 'token_scope'
  | 'token_board'
  | 'board_archived'
>
type Verdict = 'allowed' | Refusal

const rejected: readonly Actor[] = ['anonymous', 'bad token', 'deactivated', 'expired token', 'revoked token']
/** The role of a user, or of the user of a token, on the own board. */
const roleOf = (actor: Actor) =>
  actor === 'owner' || isOwnerToken(actor)
    ? 'owner'
    : actor === 'member' || actor === 'author' || actor === 'demoted token'
      ? 'member'
      : null

/** The expected result of a cell, derived from the operation's `access`, and from what it requires of tokens. */
function verdictOf(operation: Operation, cell: Cell): Verdict {
  const { actor, board, subject } = cell
  const { access } = operation
  if (access === 'public') return 'allowed'
  if (rejected.includes(actor)) return 'not_authenticated'
  const refusal = tokenRefusal(operation, cell)
  if (refusal) return refusal
  if (access === 'authenticated') return 'allowed'
  if (access === 'superuser') return actor === 'superuser' ? 'allowed' : 'superuser_only'
  const role = roleOf(actor)
  if (board === 'foreign' || role === null) return 'not_a_member'
  const isSelf = access.or_self && subject === 'self'
  const isAuthor = access.author !== undefined && actor === 'author'
  if (access.author === 'only' && !isAuthor) return 'not_the_author'
  if (role !== 'owner' && access.role !== 'member' && !isSelf && !isAuthor) return 'role_too_low'
  const isFrozen = board === 'archived' && operation.emits !== undefined && !access.when_archived
  return isFrozen ? 'board_archived' : 'allowed'
}

/** Why a token may not do it, whatever its user may do. */
function tokenRefusal(operation: Operation, { actor, board }: Cell): Refusal | undefined {
  if (!isOwnerToken(actor) && actor !== 'demoted token') return undefined
  const token = isOwnerToken(actor) ? ownerTokens[actor] : { scope: 'admin' as Scope, board: null }
  const required = tokenRequirementOf(operation)
  if (required === 'never' || scopes.indexOf(token.scope) < scopes.indexOf(required.scope)) return 'token_scope'
  if (token.board === null) return undefined
  if (!required.board_tokens) return 'token_board'
  const isAboutBoard = typeof operation.access !== 'string' || operation.path.includes('{board_id}')
  return isAboutBoard && (token.board === 'another' || board === 'foreign') ? 'token_board' : undefined
}

function cellsOf({ access }: Operation): Cell[] {
  const places: BoardKind[] = typeof access === 'string' ? ['own'] : ['own', 'archived', 'foreign']
  const subjects: Subject[] = typeof access !== 'string' && access.or_self ? ['another', 'self'] : ['another']
  const hasAuthor = typeof access !== 'string' && access.author !== undefined
  // Elsewhere the author is a member like any other.
  const callers = actors.filter((actor) => actor !== 'author' || hasAuthor)
  return callers.flatMap((actor) => places.flatMap((board) => subjects.map((subject) => ({ actor, board, subject }))))
}

/** All callers on the own board. On others one caller for each result: one function authorizes all of them. */
function sampledCells(operation: Operation): Cell[] {
  const isOwn = ({ board }: Cell) => board === 'own'
  const cells = cellsOf(operation)
  const others = cells.filter((cell) => !isOwn(cell))
  return [...cells.filter(isOwn), ...oneOfEach(others, (cell) => verdictOf(operation, cell))]
}

interface Outcome {
  status: number
  code: string | undefined
  /** Whether the database is as it was. */
  isUnchanged: boolean
}

/** What is wrong with an outcome; undefined if nothing is. */
function complaint(operation: Operation, cell: Cell, { status, code, isUnchanged }: Outcome): string | undefined {
  const verdict = verdictOf(operation, cell)
  const where = `${cell.actor} on ${cell.board} board, about ${cell.subject}: ${status} ${code ?? ''}`
  if (status >= 400 && !isUnchanged) return `${where}, and yet the database changed`
  if (verdict === 'allowed') {
    const isKnown = operation.problems?.some((known) => known === code && problems[known].status === status)
    return status === operation.returns.status || isKnown ? undefined : `${where} instead of success`
  }
  return status === problems[verdict].status && code === verdict ? undefined : `${where} instead of ${verdict}`
}

let service: TestService
let receiver: WebhookReceiver
let clients: Record<Actor, Client>
let ids: Record<Actor, string>
let commonValues: Known
/** Reads and rejected requests change nothing, so they share one pair of boards. */
let untouched: Record<BoardKind, Known>
/** A board of the owner that no request is about. */
let anotherBoard: string

beforeAll(async () => {
  service = await startService({ ADMIN_API: 'on' })
  receiver = await WebhookReceiver.start()
  const names = [
    ...(['deactivated', 'non-member', 'ex-member', 'superuser', 'member', 'author', 'owner'] as const),
    ...(['newcomer', 'demoted'] as const),
  ]
  const users = await Promise.all(names.map((name) => service.user(name)))
  const byName = Object.fromEntries(users.map((user) => [user.username, user]))
  clients = Object.fromEntries(actors.map((actor) => [actor, byName[actor]?.api])) as typeof clients
  const [header, payload, signature = ''] = clients.owner.token?.split('.') ?? []
  const swapped = signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))
  clients.anonymous = service.anybody
  clients['bad token'] = new Client(service.baseUrl, `${header}.${payload}.${swapped}`)
  const userOf = (actor: Actor) =>
    isOwnerToken(actor) ? byName['owner'] : actor === 'demoted token' ? byName['demoted'] : byName[actor]
  ids = Object.fromEntries(actors.map((a) => [a, (userOf(a) ?? byName['non-member'])?.id])) as typeof ids
  for (const actor of actors) if (isOwnerToken(actor)) clients[actor] = new Client(service.baseUrl)
  const { token } = await (byName['demoted'] as TestUser).api.call('createToken', {
    body: { name: 'Bot', scope: 'admin' },
  })
  clients['demoted token'] = new Client(service.baseUrl, token)
  await service.sql.query(`update access_tokens set last_used_at = now() + interval '1 hour'`)
  commonValues = {
    user_id: ids.member,
    url: receiver.url,
    'inviteMember.user_id': byName['newcomer']?.id,
    'login.username': byName['owner']?.email,
    password: PASSWORD,
    current_password: PASSWORD,
    new_password: PASSWORD,
  }
  await service.sql.query(
    `update users set is_active = username <> 'deactivated', is_superuser = username = 'superuser'`,
  )
  untouched = {
    own: await ownBoard(),
    archived: await archivedBoard(),
    foreign: await foreignBoard(await service.user()),
  }
  const { id } = await clients.owner.call('createBoard', { body: { title: 'Another' } })
  anotherBoard = id
})
afterAll(async () => {
  await service.stop()
  await receiver.close()
})

/** A board with one of each of these resources, on which these actors have the roles that they are named after. */
async function ownBoard(
  resources: Iterable<string> = everyParam(),
  callers: readonly Actor[] = actors,
): Promise<Known> {
  const { owner: api } = clients
  const all = new Set(['board_id', ...resources])
  const byAuthor = all.delete('comment_id') ? ['comment_id'] : []
  const furnished = await furnish(api, withOwner(ids.owner), all)
  const params = { board_id: furnished['board_id'] as string }
  // Requests are about the member, and comments are of the author.
  const needed = new Set<Actor>(['member', ...(byAuthor.length > 0 ? ['author' as const] : []), ...callers])
  for (const actor of ['member', 'author', 'ex-member', 'demoted token'] as const)
    if (needed.has(actor)) await api.call('inviteMember', { params, body: { user_id: ids[actor] } })
  const known = await furnish(clients.author, furnished, byAuthor)
  if (needed.has('ex-member')) await api.call('removeMember', { params: { ...params, user_id: ids['ex-member'] } })
  if (needed.has('demoted token')) {
    const demoted = { ...params, user_id: ids['demoted token'] }
    for (const role of ['owner', 'member'] as const) await api.call('updateMember', { params: demoted, body: { role } })
  }
  if (needed.has('deactivated')) {
    const addOwner = `insert into board_members (board_id, user_id, role) values ($1, $2, 'owner')`
    await service.sql.query(addOwner, [params.board_id, ids.deactivated])
  }
  return known
}
async function archivedBoard(resources?: Iterable<string>, callers?: readonly Actor[]): Promise<Known> {
  const known = await ownBoard(resources, callers)
  await clients.owner.call('archiveBoard', { params: { board_id: known['board_id'] as string } })
  return known
}
const foreignBoard = (otherOwner: TestUser) => furnish(otherOwner.api, withOwner(otherOwner.id))
/** Rules assign the owner, who is a member from the start. */
const withOwner = (id: string): Known => ({
  ...commonValues,
  'createRule.action_user_id': id,
  'updateRule.action_user_id': id,
})

/** Gives the actor a token of the kind that it is named after. */
async function prepareToken(actor: OwnerToken, thisBoard: string) {
  const { scope, board } = ownerTokens[actor]
  const board_id = board === null ? null : board === 'this' ? thisBoard : anotherBoard
  const { id, token } = await clients.owner.call('createToken', { body: { name: 'Bot', scope, board_id } })
  clients[actor].token = token
  if (actor === 'revoked token') await clients.owner.call('revokeToken', { params: { token_id: id } })
  // So that a request does not write the time of the last use.
  const expires = actor === 'expired token' ? 'now()' : 'expires_at'
  await service.sql.query(
    `update access_tokens set last_used_at = now() + interval '1 hour', expires_at = ${expires} where id = $1`,
    [id],
  )
}
/** The owner may have 50 tokens, and every cell may create some. */
const deleteTokens = () =>
  service.sql.query('delete from access_tokens where user_id = $1 and id <> all ($2)', [
    ids.owner,
    [untouched.own['token_id'], untouched.archived['token_id']],
  ])

/** `another` is a user whom an owner could remove, and never the caller. */
function inputFor(name: string, operation: Operation, { actor, subject }: Cell, known: Known): Input {
  const other = roleOf(actor) === 'member' && typeof operation.access !== 'string' && operation.access.or_self
  const user_id = subject === 'self' ? ids[actor] : other ? ids.owner : ids.member
  return validInput(name, operation, { ...known, user_id })
}

/** Sends the request of a cell, and compares the database. */
async function send(name: string, operation: Operation, cell: Cell, known: Known): Promise<Outcome> {
  const { path, query, body } = inputFor(name, operation, cell, known)
  const search = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)])).toString()
  const sending = sendingOf(operation.body_type, body)
  const before = await lastChange(service)
  const { status, body: answer } = await clients[cell.actor].request(
    operation.method,
    path + (search && `?${search}`),
    sending,
  )
  const isUnchanged = before === (await lastChange(service))
  return { status, code: status >= 400 ? (answer as Failure).code : undefined, isUnchanged }
}

/** Sends all requests that must be rejected. They share their tokens. */
async function sendRejected(
  name: string,
  operation: Operation,
  cells: Cell[],
  { board_id = '' }: Known,
): Promise<(string | undefined)[]> {
  for (const actor of new Set(cells.map((cell) => cell.actor)))
    if (isOwnerToken(actor)) await prepareToken(actor, board_id)
  const complaints: (string | undefined)[] = []
  for (const cell of cells)
    complaints.push(complaint(operation, cell, await send(name, operation, cell, untouched[cell.board])))
  await deleteTokens()
  return complaints
}

async function logInAgain(actor: Actor) {
  const body = { username: `${actor}@example.com`, password: PASSWORD }
  clients[actor].token = (await service.anybody.call('login', { body })).access_token
}

describe('the matrix', () => {
  test.each(Object.entries<Operation>(operations))(
    '[ACCESS-1] [ACCESS-2] [ACCESS-3] [ACCESS-4] [AUTH-12] [AUTH-24] [ADMIN-1] [TOKEN-1] [TOKEN-2] [TOKEN-3] [TOKEN-4] [TOKEN-7] [REMOVE-9] [V04] [V06] [V07] %s allows exactly the callers that its access names, and changes nothing for others',
    async (name, operation) => {
      const isAllowed = (cell: Cell) => verdictOf(operation, cell) === 'allowed'
      const cells = sampledCells(operation)
      const rejected = cells.filter((cell) => !isAllowed(cell))
      const isArchived = ({ board }: Cell) => board === 'archived'
      const complaints = [
        ...(await sendRejected(name, operation, rejected.filter(isArchived), untouched.archived)),
        ...(await sendRejected(
          name,
          operation,
          rejected.filter((cell) => !isArchived(cell)),
          untouched.own,
        )),
      ]
      let successes = 0
      for (const cell of cells.filter(isAllowed)) {
        const isChange = operation.method !== 'GET'
        const newBoard = isArchived(cell) ? archivedBoard : ownBoard
        const fresh =
          isChange && typeof operation.access !== 'string'
            ? await newBoard(paramsIn(name, operation), [cell.actor])
            : undefined
        const board = fresh ?? untouched[cell.board]
        const known =
          isChange && typeof operation.access === 'string' ? { ...board, ...(await newTargets(service)) } : board
        const { board_id = '' } = cell.board === 'foreign' ? untouched.own : board
        if (isOwnerToken(cell.actor)) await prepareToken(cell.actor, board_id)
        const response = await send(name, operation, cell, known)
        complaints.push(complaint(operation, cell, response))
        await deleteTokens()
        if (name === 'logoutEverywhere' && response.status === 200) await logInAgain(cell.actor)
        if (response.status === operation.returns.status) successes++
      }
      expect(
        complaints.filter((c) => c !== undefined),
        REPEAT,
      ).toEqual([])
      // If no caller succeeds, the rejections prove nothing.
      expect(successes).toBeGreaterThan(0)
    },
  )

  test('[ACCESS-1] only register, login, links with a secret and the health operations are public', () => {
    const open = Object.entries<Operation>(operations).filter(([, { access }]) => access === 'public')
    const links = ['readInvitation', 'resetPasswordByLink']
    const health = ['getHealth', 'getLiveness', 'getReadiness']
    expect(open.map(([name]) => name).sort()).toEqual([...health, 'login', ...links, 'register'].sort())
  })
})

describe('the matrix generator', () => {
  const uuid = { type: 'string', format: 'uuid' }
  const schema = (properties: object) => ({ type: 'object', properties }) as unknown as NonNullable<Operation['params']>
  const toyBody = schema({
    action_column_id: { anyOf: [uuid, { type: 'null' }] },
    user_ids: { type: 'array', items: uuid },
    shape: { enum: ['round', 'square'] },
    size: { type: 'integer', minimum: 3 },
    text: { type: 'string', minLength: 30 },
  })
  const toy: Operation = {
    method: 'PATCH',
    path: '/cards/{card_id}/stickers/{user_id}',
    tag: 'cards',
    summary: 'An operation that nobody wrote a test for',
    description: 'For the generator alone.',
    access: owner('card'),
    params: schema({ card_id: uuid, user_id: uuid }),
    body: toyBody,
    returns: { status: 200, schema: schema({}) },
    emits: ['card.updated'],
    problems: ['id_taken'],
  }
  const known = { card_id: randomUUID(), user_id: randomUUID(), column_id: randomUUID() }
  const cell = (actor: Actor, board: BoardKind = 'own', subject: Subject = 'another'): Cell => ({
    actor,
    board,
    subject,
  })

  test('[ACCESS-1] inputs of a new operation are generated from its schemas', () => {
    const { path, body } = validInput('stick', toy, known)
    expect(path).toBe(`/cards/${known.card_id}/stickers/${known.user_id}`)
    expect(body).toMatchObject({
      action_column_id: known.column_id,
      user_ids: [known.user_id],
      shape: 'round',
      size: 3,
    })
    expect(accepts(toyBody, body)).toBe(true)
    expect(() => validInput('stick', toy, { user_id: known.user_id })).toThrow('stick needs a {card_id}')
    const attacks = fieldAttacks(toyBody, () => validInput('stick', toy, known))
    const about = (field: string) => attacks.filter(({ label }) => label.startsWith(field)).length
    expect(['action_column_id', 'user_ids', 'shape', 'size', 'text'].map(about)).toEqual(Array(5).fill(29))
    expect(JSON.stringify(attacks)).toContain(CANARY)
  })

  test('[ACCESS-2] [ACCESS-3] expected results of a new operation are derived from its access', () => {
    const verdicts = (o: Operation) => Object.groupBy(cellsOf(o), (c) => verdictOf(o, c))
    const { allowed, not_authenticated, not_a_member, role_too_low, board_archived } = verdicts(toy)
    expect(allowed).toEqual([cell('owner'), cell('admin token'), cell('token of this board')])
    const onBoth = (actor: Actor) => [cell(actor), cell(actor, 'archived')]
    expect(role_too_low).toEqual([...onBoth('member'), ...onBoth('demoted token')])
    expect(not_authenticated).toHaveLength(15)
    expect(not_a_member).toHaveLength(13)
    expect(board_archived).toEqual(allowed?.map(({ actor }) => cell(actor, 'archived')))
    const { emits: _, ...read } = toy
    for (const always of [{ ...toy, access: evenArchived(owner('card')) }, read])
      expect(verdicts(always).allowed).toEqual(allowed?.flatMap(({ actor }) => onBoth(actor)))
    const orSelf = verdicts({ ...toy, access: ownerOrSelf('card') }).allowed?.filter(
      ({ actor }) => !/token/.test(actor),
    )
    expect(orSelf).toEqual([cell('member', 'own', 'self'), cell('owner'), cell('owner', 'own', 'self')])
    expect(verdicts({ ...toy, access: 'public' }).allowed).toHaveLength(actors.length - 1)
    const users = (o: Operation) => verdicts(o).allowed?.filter(({ actor }) => !/token/.test(actor))
    expect(users({ ...toy, access: author('comment') })).toEqual([cell('author')])
    expect(users({ ...toy, access: ownerOrAuthor('comment') })).toEqual([cell('author'), cell('owner')])
    expect(verdicts({ ...toy, access: author('comment') }).not_the_author).toContainEqual(cell('owner'))
    const forSuperusers = verdicts({ ...toy, access: 'superuser' })
    expect(forSuperusers.allowed).toEqual([cell('superuser')])
    expect(forSuperusers.superuser_only).toHaveLength(4)
    expect(forSuperusers.not_authenticated).toHaveLength(5)
  })

  test('[TOKEN-2] [TOKEN-3] expected results of tokens follow from the requirement of an operation', () => {
    const tokens = (o: Operation) => {
      const cells = cellsOf(o).filter(({ actor }) => /token/.test(actor) && !rejected.includes(actor))
      const byVerdict = Object.groupBy(cells, (c) => verdictOf(o, c))
      return Object.fromEntries(
        Object.entries(byVerdict).map(([verdict, some]) => [verdict, some.map((c) => `${c.actor}, ${c.board}`)]),
      )
    }
    expect(tokens({ ...toy, method: 'GET', access: 'authenticated' })).toEqual({
      allowed: ['read token, own', 'write token, own', 'admin token, own', 'demoted token, own'],
      token_board: ['token of this board, own', 'token of another board, own'],
    })
    expect(tokens({ ...toy, access: member('card') })).toEqual({
      token_scope: ['read token, own', 'read token, archived', 'read token, foreign'],
      allowed: ['write token, own', 'admin token, own', 'token of this board, own', 'demoted token, own'],
      not_a_member: ['write token, foreign', 'admin token, foreign', 'demoted token, foreign'],
      board_archived: [
        ...[
          'write token, archived',
          'admin token, archived',
          'token of this board, archived',
          'demoted token, archived',
        ],
      ],
      token_board: [
        ...['token of this board, foreign', 'token of another board, own'],
        ...['token of another board, archived', 'token of another board, foreign'],
      ],
    })
    expect(tokens({ ...toy, token: 'never' })).toEqual({ token_scope: expect.objectContaining({ length: 18 }) })
  })

  const isUnchanged = true
  test.each<[string, Cell, Outcome]>([
    ['a non-member is allowed', cell('non-member'), { status: 200, code: undefined, isUnchanged }],
    ['a member is allowed to do what only owners may', cell('member'), { status: 200, code: undefined, isUnchanged }],
    ['an owner of another board is allowed', cell('owner', 'foreign'), { status: 200, code: undefined, isUnchanged }],
    ['a non-member gets 404', cell('non-member'), { status: 404, code: 'card_not_found', isUnchanged }],
    ['a non-member gets 422', cell('non-member'), { status: 422, code: 'invalid_input', isUnchanged }],
    ['an anonymous caller gets 403', cell('anonymous'), { status: 403, code: 'not_a_member', isUnchanged }],
    ['a member gets the wrong code', cell('member'), { status: 403, code: 'not_a_member', isUnchanged }],
    ['the owner is rejected', cell('owner'), { status: 403, code: 'role_too_low', isUnchanged }],
    ['the owner gets an error', cell('owner'), { status: 500, code: 'internal', isUnchanged }],
    [
      'a rejected request wrote something',
      cell('non-member'),
      { status: 403, code: 'not_a_member', isUnchanged: false },
    ],
    ['a read token may change', cell('read token'), { status: 200, code: undefined, isUnchanged }],
    ['a token reaches another board', cell('token of another board'), { status: 200, code: undefined, isUnchanged }],
    ['a demoted token keeps its rights', cell('demoted token'), { status: 200, code: undefined, isUnchanged }],
    ['a revoked token gets 403', cell('revoked token'), { status: 403, code: 'token_scope', isUnchanged }],
    ['an archived board is changed', cell('owner', 'archived'), { status: 200, code: undefined, isUnchanged: false }],
    [
      'a member of an archived board gets the wrong code',
      cell('member', 'archived'),
      { status: 409, code: 'board_archived', isUnchanged },
    ],
    ['a failed request wrote something', cell('owner'), { status: 409, code: 'id_taken', isUnchanged: false }],
  ])('[ACCESS-2] [ACCESS-3] [ACCESS-4] it finds that %s', (_, wrong, outcome) => {
    expect(complaint(toy, wrong, outcome)).toBeTypeOf('string')
  })

  test('[ACCESS-4] it accepts correct responses', () => {
    expect(complaint(toy, cell('owner'), { status: 200, code: undefined, isUnchanged: false })).toBeUndefined()
    expect(complaint(toy, cell('owner'), { status: 409, code: 'id_taken', isUnchanged })).toBeUndefined()
    expect(complaint(toy, cell('member'), { status: 403, code: 'role_too_low', isUnchanged })).toBeUndefined()
  })

  test('[ACCESS-4] the last change is another one after a field or an event was written', async () => {
    const { board_id, card_id } = untouched.foreign
    const changes = [await lastChange(service), await lastChange(service)]
    await service.sql.query(`update cards set title = title || '.' where id = $1`, [card_id])
    changes.push(await lastChange(service))
    const append = `insert into board_events (board_id, seq, created_at, type, user_id, body)
      select board_id, seq + 1, now(), type, user_id, body from board_events where board_id = $1 order by seq desc limit 1`
    await service.sql.query(append, [board_id])
    changes.push(await lastChange(service))
    expect(changes.map((change) => changes.indexOf(change))).toEqual([0, 0, 2, 3])
  })
})
