import { randomUUID } from 'node:crypto'
import { operations } from '@lockstep/contract'
import { type Access, type Operation, owner, ownerOrSelf } from '@lockstep/contract/operation'
import { type ProblemCode, problems } from '@lockstep/contract/problems'
import { Client, type Failure, sendingOf } from '@lockstep/testing/client'
import {
  accepts,
  CANARY,
  contentHash,
  furnish,
  type Input,
  jsonAttacks,
  type Known,
  newTargets,
  validInput,
} from '@lockstep/testing/input-generator'
import { PASSWORD, startService, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/**
 * All kinds of callers. The deactivated user is an owner in the database, and only rejected because of the
 * deactivation.
 */
const actors = [
  'anonymous',
  'bad token',
  'deactivated',
  'non-member',
  'ex-member',
  'superuser',
  'member',
  'owner',
] as const
type Actor = (typeof actors)[number]
/** `own`: the board on which the actors have their roles. `foreign`: a board of another user. */
type BoardKind = 'own' | 'foreign'
/** The user in the path parameter `user_id`. */
type Subject = 'another' | 'self'
interface Cell {
  actor: Actor
  board: BoardKind
  subject: Subject
}
type Refusal = Extract<ProblemCode, 'not_authenticated' | 'superuser_only' | 'not_a_member' | 'role_too_low'>
type Verdict = 'allowed' | Refusal

/** The expected result of a cell, derived from the operation's `access` alone. */
function verdictOf(access: Access, { actor, board, subject }: Cell): Verdict {
  if (access === 'public') return 'allowed'
  if (actor === 'anonymous' || actor === 'bad token' || actor === 'deactivated') return 'not_authenticated'
  if (access === 'authenticated') return 'allowed'
  if (access === 'superuser') return actor === 'superuser' ? 'allowed' : 'superuser_only'
  if (board === 'foreign' || (actor !== 'member' && actor !== 'owner')) return 'not_a_member'
  if (actor === 'owner' || access.role === 'member') return 'allowed'
  return access.or_self && subject === 'self' ? 'allowed' : 'role_too_low'
}

function cellsOf({ access }: Operation): Cell[] {
  const places: BoardKind[] = typeof access === 'string' ? ['own'] : ['own', 'foreign']
  const subjects: Subject[] = typeof access !== 'string' && access.or_self ? ['another', 'self'] : ['another']
  return actors.flatMap((actor) => places.flatMap((board) => subjects.map((subject) => ({ actor, board, subject }))))
}

interface Outcome {
  status: number
  code: string | undefined
  isUnchanged: boolean
}

/** What is wrong with an outcome; undefined if nothing is. */
function complaint(operation: Operation, cell: Cell, { status, code, isUnchanged }: Outcome): string | undefined {
  const verdict = verdictOf(operation.access, cell)
  const where = `${cell.actor} on ${cell.board} board, about ${cell.subject}: ${status} ${code ?? ''}`
  if (status >= 400 && !isUnchanged) return `${where}, and yet the database changed`
  if (verdict === 'allowed') {
    const isKnown = operation.problems?.some((known) => known === code && problems[known].status === status)
    return status === operation.returns.status || isKnown ? undefined : `${where} instead of success`
  }
  return status === problems[verdict].status && code === verdict ? undefined : `${where} instead of ${verdict}`
}

let service: TestService
let clients: Record<Actor, Client>
let ids: Record<Actor, string>
let commonValues: Known
/** Rejected requests change nothing, so they share one pair of boards. */
let untouched: Record<BoardKind, Known>

beforeAll(async () => {
  service = await startService({ ADMIN_API: 'on' })
  const names = ['deactivated', 'non-member', 'ex-member', 'superuser', 'member', 'owner', 'newcomer'] as const
  const users = await Promise.all(names.map((name) => service.user(name)))
  const byName = Object.fromEntries(users.map((user) => [user.username, user]))
  clients = Object.fromEntries(actors.map((actor) => [actor, byName[actor]?.api])) as typeof clients
  const [header, payload, signature = ''] = clients.owner.token?.split('.') ?? []
  const swapped = signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))
  clients.anonymous = service.anybody
  clients['bad token'] = new Client(service.baseUrl, `${header}.${payload}.${swapped}`)
  ids = Object.fromEntries(actors.map((a) => [a, byName[a]?.id ?? byName['non-member']?.id])) as typeof ids
  commonValues = {
    user_id: ids.member,
    'inviteMember.user_id': byName['newcomer']?.id,
    'login.username': byName['owner']?.email,
    password: PASSWORD,
    current_password: PASSWORD,
    new_password: PASSWORD,
  }
  await service.sql.query(
    `update users set is_active = username <> 'deactivated', is_superuser = username = 'superuser'`,
  )
  untouched = { own: await ownBoard(), foreign: await foreignBoard(await service.user()) }
})
afterAll(() => service.stop())

/** A board with one of each resource, on which the actors have the roles that they are named after. */
async function ownBoard(): Promise<Known> {
  const { owner: api } = clients
  const known = await furnish(api, withOwner(ids.owner))
  const params = { board_id: known['board_id'] as string }
  for (const actor of ['member', 'ex-member'] as const)
    await api.call('inviteMember', { params, body: { user_id: ids[actor] } })
  await api.call('removeMember', { params: { ...params, user_id: ids['ex-member'] } })
  const addOwner = `insert into board_members (board_id, user_id, role) values ($1, $2, 'owner')`
  await service.sql.query(addOwner, [params.board_id, ids.deactivated])
  return known
}
const foreignBoard = (otherOwner: TestUser) => furnish(otherOwner.api, withOwner(otherOwner.id))
/** Rules assign the owner, who is a member from the start. */
const withOwner = (id: string): Known => ({
  ...commonValues,
  'createRule.action_user_id': id,
  'updateRule.action_user_id': id,
})

/** `another` is a user whom an owner could remove, and never the caller. */
function inputFor(name: string, operation: Operation, { actor, subject }: Cell, known: Known): Input {
  const other = actor === 'member' && typeof operation.access !== 'string' && operation.access.or_self
  const user_id = subject === 'self' ? ids[actor] : other ? ids.owner : ids.member
  return validInput(name, operation, { ...known, user_id })
}

async function send(operation: Operation, { actor }: Cell, { path, query, body }: Input): Promise<Outcome> {
  const search = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)])).toString()
  const sending = sendingOf(operation.body_type, body)
  const before = await contentHash(service)
  const response = await clients[actor].request(operation.method, path + (search && `?${search}`), sending)
  const { code } = (response.status >= 400 ? response.body : {}) as Partial<Failure>
  return { status: response.status, code, isUnchanged: before === (await contentHash(service)) }
}

async function logInAgain(actor: Actor) {
  const body = { username: `${actor}@example.com`, password: PASSWORD }
  clients[actor].token = (await service.anybody.call('login', { body })).access_token
}

describe('the matrix', () => {
  test.each(Object.entries<Operation>(operations))(
    '[ACCESS-1] [ACCESS-2] [ACCESS-3] [ACCESS-4] [AUTH-12] [AUTH-24] [ADMIN-1] [V04] [V06] [V07] %s allows exactly the callers that its access names, and changes nothing for others',
    async (name, operation) => {
      const complaints: (string | undefined)[] = []
      let successes = 0
      for (const cell of cellsOf(operation)) {
        const isAllowed = verdictOf(operation.access, cell) === 'allowed'
        const isOnBoard = typeof operation.access !== 'string'
        const board = isAllowed && isOnBoard ? await ownBoard() : untouched[cell.board]
        const known = isAllowed ? { ...board, ...(await newTargets(service)) } : board
        const outcome = await send(operation, cell, inputFor(name, operation, cell, known))
        complaints.push(complaint(operation, cell, outcome))
        if (name === 'logoutEverywhere' && outcome.status === 200) await logInAgain(cell.actor)
        if (outcome.status === operation.returns.status) successes++
      }
      expect(complaints.filter((c) => c !== undefined)).toEqual([])
      // If no caller succeeds, the rejections prove nothing.
      expect(successes).toBeGreaterThan(0)
    },
  )

  test('[ACCESS-1] only register, login and the health operations are public', () => {
    const open = Object.entries<Operation>(operations).filter(([, { access }]) => access === 'public')
    expect(open.map(([name]) => name).sort()).toEqual(['getHealth', 'getLiveness', 'getReadiness', 'login', 'register'])
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
    access: owner('card'),
    params: schema({ card_id: uuid, user_id: uuid }),
    body: toyBody,
    returns: { status: 200, schema: schema({}) },
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
    const attacks = jsonAttacks(toyBody, () => validInput('stick', toy, known))
    const about = (field: string) => attacks.filter(({ label }) => label.startsWith(field)).length
    expect(['action_column_id', 'user_ids', 'shape', 'size', 'text'].map(about)).toEqual(Array(5).fill(29))
    expect(JSON.stringify(attacks)).toContain(CANARY)
  })

  test('[ACCESS-2] [ACCESS-3] expected results of a new operation are derived from its access', () => {
    const verdicts = (o: Operation) => Object.groupBy(cellsOf(o), (c) => verdictOf(o.access, c))
    const { allowed, not_authenticated, not_a_member, role_too_low } = verdicts(toy)
    expect(allowed).toEqual([cell('owner')])
    expect(role_too_low).toEqual([cell('member')])
    expect(not_authenticated).toHaveLength(6)
    expect(not_a_member).toHaveLength(8)
    expect(verdicts({ ...toy, access: ownerOrSelf('card') }).allowed).toEqual([
      cell('member', 'own', 'self'),
      cell('owner'),
      cell('owner', 'own', 'self'),
    ])
    expect(verdicts({ ...toy, access: 'authenticated' }).allowed?.map((c) => c.actor)).toEqual(actors.slice(3))
    expect(verdicts({ ...toy, access: 'public' }).allowed).toHaveLength(actors.length)
    const forSuperusers = verdicts({ ...toy, access: 'superuser' })
    expect(forSuperusers.allowed).toEqual([cell('superuser')])
    expect(forSuperusers.superuser_only).toHaveLength(4)
    expect(forSuperusers.not_authenticated).toHaveLength(3)
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
    ['a failed request wrote something', cell('owner'), { status: 409, code: 'id_taken', isUnchanged: false }],
  ])('[ACCESS-2] [ACCESS-3] [ACCESS-4] it finds that %s', (_, wrong, outcome) => {
    expect(complaint(toy, wrong, outcome)).toBeTypeOf('string')
  })

  test('[ACCESS-4] it accepts correct responses', () => {
    expect(complaint(toy, cell('owner'), { status: 200, code: undefined, isUnchanged: false })).toBeUndefined()
    expect(complaint(toy, cell('owner'), { status: 409, code: 'id_taken', isUnchanged })).toBeUndefined()
    expect(complaint(toy, cell('member'), { status: 403, code: 'role_too_low', isUnchanged })).toBeUndefined()
  })

  test('[ACCESS-4] the content hash changes with one field and with one more event', async () => {
    const { board_id, card_id } = untouched.foreign
    const hashes = [await contentHash(service), await contentHash(service)]
    await service.sql.query(`update cards set title = title || '.' where id = $1`, [card_id])
    hashes.push(await contentHash(service))
    const append = `insert into board_events (board_id, seq, created_at, type, user_id, body)
      select board_id, seq + 1, now(), type, user_id, body from board_events where board_id = $1 order by seq desc limit 1`
    await service.sql.query(append, [board_id])
    hashes.push(await contentHash(service))
    expect(hashes.map((hash) => hashes.indexOf(hash))).toEqual([0, 0, 2, 3])
  })
})
