import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { FullBoard } from '@lockstep/contract/boards'
import { type ApiResponse, Client, type Failure } from '@lockstep/testing/client'
import { emptyBoard, foldBoard } from '@lockstep/testing/fold'
import { holdBoard } from '@lockstep/testing/processes'
import { owners, PASSWORD, startService, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let service: TestService
/** A second instance on the same database: races between processes are serialized by PostgreSQL. */
let twin: TestService
let ann: TestUser
let bob: TestUser
beforeAll(async () => {
  service = await startService()
  twin = await startService({ DATABASE_URL: service.databaseUrl })
  ann = await service.user()
  bob = await service.user()
})
afterAll(async () => {
  await twin.stop()
  await service.stop()
})

const ROUNDS = Array.from({ length: 20 }, (_, i) => i)
/** The same user at the other instance, in every second round. */
const at = (round: number, { api }: TestUser) => new Client((round % 2 ? twin : service).baseUrl, api.token)
const statuses = (responses: ApiResponse[]) => responses.map((response) => response.status).sort((a, b) => a - b)
const codes = (responses: ApiResponse[]) =>
  responses.flatMap(({ body }) => (body as Partial<Failure> | undefined)?.code ?? [])

async function newBoard(owner: TestUser) {
  const board = await owner.api.call('createBoard', { body: { title: 'Plan' } })
  const params = { board_id: board.id }
  return { board, params, read: () => owner.api.call('getBoard', { params }) }
}
async function boardOfTwoOwners() {
  const board = await newBoard(ann)
  await ann.api.call('inviteMember', { params: board.params, body: { user_id: bob.id } })
  await ann.api.call('updateMember', { params: { ...board.params, user_id: bob.id }, body: { role: 'owner' } })
  return board
}
async function boardWithColumn() {
  const { params, read } = await newBoard(ann)
  const { id: column_id } = await ann.api.call('createColumn', { params, body: { title: 'To do' } })
  return { params: { ...params, column_id }, read }
}

interface Logged {
  seq: number
  type: string
  user_id: string | null
  data: { id: string; cards?: { id: string }[] }
  timestamp: string
}
async function readLog(board_id: string): Promise<Logged[]> {
  const { rows } = await service.sql.query<{ seq: number; body: string }>(
    'select seq::int, body from board_events where board_id = $1 order by seq',
    [board_id],
  )
  return rows.map(({ seq, body }) => ({ seq, ...JSON.parse(body) }))
}

/** Items whose rank is not above that of the item before. */
function misplaced({ columns }: FullBoard): string[] {
  const lists = [columns, ...columns.map((column) => column.cards)]
  return lists.flatMap((list) =>
    list.flatMap((item, i) => (i > 0 && item.rank <= (list[i - 1]?.rank ?? 0) ? [item.id] : [])),
  )
}
/** Positions at which the log has a gap, or goes back in time. */
const breaks = (log: Logged[]) =>
  log.flatMap(({ seq, timestamp }, i) => (seq !== i + 1 || timestamp < (log[i - 1]?.timestamp ?? '') ? [i + 1] : []))
/** Created cards that are neither on the board nor in a delete event. */
function lost(created: string[], { columns }: FullBoard, log: Logged[]): string[] {
  const ended = log.flatMap(({ type, data }) =>
    type === 'card.deleted' ? [data] : type === 'column.deleted' ? (data.cards ?? []) : [],
  )
  const known = new Set([...columns.flatMap((column) => column.cards), ...ended].map((card) => card.id))
  return created.filter((id) => !known.has(id))
}
async function deadlocks(): Promise<number> {
  const { rows } = await service.sql.query(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  )
  return rows[0].deadlocks
}

describe('many writers on one board', () => {
  const WRITERS = 16
  const DURATION_MS = 5_000

  /** Resources known to the writers, including those that another writer has deleted. */
  interface Known {
    columns: string[]
    cards: string[]
    responses: (ApiResponse & { kind: string })[]
  }
  const oneOf = (ids: string[]) => ids[Math.floor(Math.random() * ids.length)] ?? ''
  /** Mostly the same position, so that ranks run out there. */
  const somewhere = () => ({ position: Math.random() < 0.7 ? 1 : Math.floor(Math.random() * 20) })

  async function write(api: Client, board_id: string, known: Known) {
    const column_id = Math.random() < 0.4 ? (known.columns[0] ?? '') : oneOf(known.columns)
    const card_id = oneOf(known.cards)
    const title = 'Written'
    const dice = Math.random()
    const keep = (kind: string, response: ApiResponse) => void known.responses.push({ ...response, kind })
    const idOf = ({ status, body }: ApiResponse) => (status === 201 ? [(body as { id: string }).id] : [])
    if (dice < 0.35 || known.cards.length < WRITERS) {
      const created = await api.send('createCard', { params: { board_id, column_id }, body: { title, ...somewhere() } })
      known.cards.push(...idOf(created))
      keep('card.created', created)
    } else if (dice < 0.68)
      keep('card.moved', await api.send('moveCard', { params: { card_id }, body: { column_id, ...somewhere() } }))
    else if (dice < 0.84) keep('card.deleted', await api.send('deleteCard', { params: { card_id } }))
    else if (dice < 0.9) {
      const created = await api.send('createColumn', { params: { board_id }, body: { title, ...somewhere() } })
      known.columns.push(...idOf(created))
      keep('column.created', created)
    } else if (dice < 0.96)
      keep('column.moved', await api.send('moveColumn', { params: { column_id }, body: somewhere() }))
    // The first column is never deleted, so that there is always a column for cards.
    else if (column_id !== known.columns[0])
      keep('column.deleted', await api.send('deleteColumn', { params: { column_id } }))
  }

  test('[WRITE-6] [EVENT-2] [EVENT-3] [ORDER-3] cause no duplicate rank, no lost card, no gap, no wrong event and no deadlock', async () => {
    const { board, params, read } = await newBoard(ann)
    await ann.api.call('inviteMember', { params, body: { user_id: bob.id } })
    const { id } = await ann.api.call('createColumn', { params, body: { title: 'First' } })
    const known: Known = { columns: [id], cards: [], responses: [] }
    const deadlocksBefore = await deadlocks()
    const instances = await Promise.all([1, 2].map(() => startService({ DATABASE_URL: service.databaseUrl })))
    const until = Date.now() + DURATION_MS
    const snapshots: { seq: number; body: FullBoard }[] = []

    const writers = Array.from({ length: WRITERS }, async (_, i) => {
      const { baseUrl } = instances[i % 2] as TestService
      const api = new Client(baseUrl, (i % 4 < 2 ? ann : bob).api.token)
      while (Date.now() < until) await write(api, board.id, known)
    })
    const reader = (async () => {
      while (Date.now() < until) {
        const { headers, body } = await ann.api.send('getBoard', { params })
        snapshots.push({ seq: Number(headers.get('board-position')?.split('.')[1]), body: body as FullBoard })
        await pause(200)
      }
    })()
    try {
      await Promise.all([...writers, reader])
    } finally {
      // A connection reports its deadlocks when it ends.
      await Promise.all(instances.map((instance) => instance.stop()))
    }

    const end = await read()
    const log = await readLog(board.id)
    const done = known.responses.filter((response) => response.status < 400)
    const created = done.flatMap(({ kind, body }) => (kind === 'card.created' ? [(body as { id: string }).id] : []))
    console.log(`${WRITERS} writers: ${done.length} changes, ${log.length} events, ${snapshots.length} snapshots`)
    expect(done.length).toBeGreaterThan(WRITERS)
    expect(codes(known.responses).filter((code) => code !== 'card_not_found' && code !== 'column_not_found')).toEqual(
      [],
    )
    expect(misplaced(end)).toEqual([])
    expect(breaks(log)).toEqual([])
    expect(lost(created, end, log)).toEqual([])
    expect(foldBoard(emptyBoard(board), log)).toEqual(end)
    // Snapshots of a reader equal the log at their positions.
    for (const { seq, body } of snapshots) expect(foldBoard(emptyBoard(board), log.slice(0, seq))).toEqual(body)
    // Each change has its own position in the log, with its event.
    const places = done.map(({ headers }) => Number(headers.get('board-position')?.split('.')[1]))
    expect(places.map((seq) => log[seq - 1]?.type)).toEqual(done.map((response) => response.kind))
    expect(log.filter((event) => event.user_id !== null)).toHaveLength(done.length + 2)
    expect(new Set(places).size).toBe(done.length)
    expect((await deadlocks()) - deadlocksBefore).toBe(0)
  })

  test('[WRITE-6] [EVENT-2] [EVENT-3] the checks above find seeded defects', async () => {
    const { params, read } = await boardWithColumn()
    const one = await ann.api.call('createCard', { params, body: { title: 'One' } })
    const two = await ann.api.call('createCard', { params, body: { title: 'Two' } })
    await ann.api.call('moveCard', { params: { card_id: two.id }, body: { position: 0 } })
    const board = await read()
    const log = await readLog(board.id)
    const start = { ...board, columns: [] }
    expect([misplaced(board), breaks(log), lost([one.id], board, log)]).toEqual([[], [], []])

    const equal = structuredClone(board)
    for (const card of equal.columns[0]?.cards ?? []) card.rank = 1
    expect(misplaced(equal)).toHaveLength(1)
    expect(lost([one.id, randomUUID()], board, log)).toHaveLength(1)

    expect(foldBoard(start, log)).toEqual(board)
    expect(foldBoard(start, log.slice(0, -1))).not.toEqual(board)
    expect(foldBoard(start, [...log, ...log.slice(-2, -1)])).not.toEqual(board)

    await service.sql.query('delete from board_events where board_id = $1 and seq = 2', [board.id])
    expect(breaks(await readLog(board.id))).toEqual([2, 3])
  })

  test('[WRITE-6] a deadlock would be counted', async () => {
    const before = await deadlocks()
    const [one, two] = await Promise.all([service.sql.connect(), service.sql.connect()])
    const lock = (on: typeof one, key: number) => on.query('select pg_advisory_xact_lock($1)', [key])
    await Promise.all([one.query('begin'), two.query('begin')])
    await lock(one, 1)
    await lock(two, 2)
    const results = await Promise.allSettled([lock(one, 2), lock(two, 1)])
    one.release(true)
    two.release(true)

    expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected'])
    await expect.poll(deadlocks).toBe(before + 1)
  })
})

describe('two concurrent requests', () => {
  test('[MEMBER-6] when the last two owners leave at the same time, one stays', async () => {
    for (const round of ROUNDS) {
      const { params } = await boardOfTwoOwners()
      const leave = (api: Client, user_id: string) => api.send('removeMember', { params: { ...params, user_id } })
      const responses = await Promise.all([leave(ann.api, ann.id), leave(at(round, bob), bob.id)])
      expect(statuses(responses)).toEqual([204, 409])
      expect(codes(responses)).toEqual(['last_owner'])
      const stays = responses[0]?.status === 409 ? ann : bob
      expect(owners((await stays.api.call('getBoard', { params })).members)).toEqual([stays.id])
    }
  })

  test('[MEMBER-6] when the last two owners step down at the same time, one remains an owner', async () => {
    for (const round of ROUNDS) {
      const { params, read } = await boardOfTwoOwners()
      const stepDown = (api: Client, user_id: string) =>
        api.send('updateMember', { params: { ...params, user_id }, body: { role: 'member' } })
      const responses = await Promise.all([stepDown(ann.api, ann.id), stepDown(at(round, bob), bob.id)])
      expect(statuses(responses)).toEqual([200, 409])
      expect(owners((await read()).members)).toEqual([responses[0]?.status === 409 ? ann.id : bob.id])
    }
  })

  test('[MEMBER-6] [ACCESS-7] when the last two owners remove each other at the same time, one succeeds', async () => {
    for (const round of ROUNDS.slice(0, 10)) {
      const { params } = await boardOfTwoOwners()
      const remove = (api: Client, user_id: string) => api.send('removeMember', { params: { ...params, user_id } })
      const responses = await Promise.all([remove(ann.api, bob.id), remove(at(round, bob), ann.id)])
      expect(statuses(responses)).toEqual([204, 403])
      const { rows } = await service.sql.query('select role from board_members where board_id = $1', [params.board_id])
      expect(rows).toEqual([{ role: 'owner' }])
    }
  })

  test('[MEMBER-2] of two concurrent invitations of a user, one succeeds', async () => {
    for (const round of ROUNDS) {
      const { params, read } = await newBoard(ann)
      const invite = (api: Client) => api.send('inviteMember', { params, body: { user_id: bob.id } })
      const responses = await Promise.all([invite(ann.api), invite(at(round, ann))])
      expect(statuses(responses)).toEqual([201, 409])
      expect(codes(responses)).toEqual(['already_a_member'])
      expect((await read()).members).toHaveLength(2)
      expect((await readLog(params.board_id)).map((event) => event.type)).toEqual(['board.member_added'])
    }
  })

  test('[AUTH-3] of two concurrent registrations of an e-mail address, one succeeds', async () => {
    for (const instance of [service, twin, service, twin]) {
      const name = `twice-${randomUUID()}`
      const register = ({ anybody }: TestService, email: string, username: string) =>
        anybody.send('register', { body: { email, username, password: PASSWORD } })
      const responses = await Promise.all([
        register(service, `${name}@example.com`, name.slice(0, 30)),
        register(instance, `${name}@EXAMPLE.com`, name.slice(0, 31)),
      ])
      expect(statuses(responses)).toEqual([201, 409])
      expect(codes(responses)).toEqual(['email_taken'])
    }
  })
})

describe('one Idempotency-Key twice at once', () => {
  const create = (api: Client, params: { board_id: string; column_id: string }, key: string) =>
    api.send('createCard', { params, body: { title: 'Once' }, headers: { 'idempotency-key': key } })

  test('[WRITE-3] creates one card, at one instance and at two, with the same response for both', async () => {
    const { params, read } = await boardWithColumn()
    for (const round of ROUNDS) {
      const key = randomUUID()
      const responses = await Promise.all([create(ann.api, params, key), create(at(round, ann), params, key)])
      expect(statuses(responses)).toEqual([201, 201])
      expect(responses[0]?.text).toBe(responses[1]?.text)
      expect(responses.filter((response) => response.headers.get('idempotent-replayed') === 'true')).toHaveLength(1)
      expect((await read()).columns[0]?.cards).toHaveLength(round + 1)
    }
    expect(await readLog(params.board_id)).toHaveLength(ROUNDS.length + 1)
  })

  test('[WRITE-3] [WRITE-4] on two boards creates one card on one of them', async () => {
    const [one, two] = [await boardWithColumn(), await boardWithColumn()]
    const count = async () =>
      (await Promise.all([one.read(), two.read()])).flatMap((board) => board.columns[0]?.cards ?? []).length
    for (const round of ROUNDS) {
      const key = randomUUID()
      const responses = await Promise.all([create(ann.api, one.params, key), create(at(round, ann), two.params, key)])
      expect(statuses(responses)).toEqual([201, 422])
      expect(codes(responses)).toEqual(['idempotency_key_reused'])
      expect(await count()).toBe(round + 1)
    }
  })

  test('[WRITE-3] creates one board', async () => {
    for (const round of ROUNDS) {
      const headers = { 'idempotency-key': randomUUID() }
      const send = (api: Client) => api.send('createBoard', { body: { title: headers['idempotency-key'] }, headers })
      const responses = await Promise.all([send(ann.api), send(at(round, ann))])
      expect(statuses(responses)).toEqual([201, 201])
      expect(responses[0]?.text).toBe(responses[1]?.text)
      const { rowCount } = await service.sql.query('select from boards where title = $1', [headers['idempotency-key']])
      expect(rowCount).toBe(1)
    }
  })
})

describe('while a change waits for the board', () => {
  test('[ACCESS-7] [ACCESS-4] it is rejected if its author is removed', async () => {
    const { params } = await boardOfTwoOwners()
    const before = await readLog(params.board_id)
    await using held = await holdBoard(service.sql, params.board_id)
    const response = bob.api.fail('createColumn', { params, body: { title: 'Too late' } })
    await held.isAwaited()
    await held.query('delete from board_members where board_id = $1 and user_id = $2', [params.board_id, bob.id])
    await held.release()

    expect(await response).toMatchObject({ status: 403, code: 'not_a_member' })
    expect(await readLog(params.board_id)).toEqual(before)
  })

  test('[ACCESS-7] [ACCESS-4] [V12] an owner-only change is rejected if its author is demoted', async () => {
    const { params, read } = await boardOfTwoOwners()
    await using held = await holdBoard(service.sql, params.board_id)
    const response = bob.api.fail('updateBoard', { params, body: { title: 'Too late' } })
    await held.isAwaited()
    await held.query(`update board_members set role = 'member' where board_id = $1 and user_id = $2`, [
      params.board_id,
      bob.id,
    ])
    await held.release()

    expect(await response).toMatchObject({ status: 403, code: 'role_too_low' })
    expect((await read()).title).toBe('Plan')
  })

  test('[WRITE-6] it is 404 if its target is deleted', async () => {
    const { params, read } = await boardWithColumn()
    const { id: card_id } = await ann.api.call('createCard', { params, body: { title: 'Gone' } })
    await using held = await holdBoard(service.sql, params.board_id)
    const response = ann.api.fail('moveCard', { params: { card_id }, body: { position: 0 } })
    await held.isAwaited()
    await held.query('delete from cards where id = $1', [card_id])
    await held.release()

    expect(await response).toMatchObject({ status: 404, code: 'card_not_found' })
    expect((await read()).columns[0]?.cards).toEqual([])
  })

  test("[WRITE-6] it is 404 if its target's id now belongs to another board, which stays unchanged", async () => {
    const here = await boardWithColumn()
    const there = await boardWithColumn()
    const { id: card_id } = await ann.api.call('createCard', { params: here.params, body: { title: 'Here' } })
    await using held = await holdBoard(service.sql, here.params.board_id)
    const response = ann.api.fail('updateCard', { params: { card_id }, body: { title: 'Changed' } })
    await held.isAwaited()
    await held.query('update cards set board_id = $2, column_id = $3, title = $4 where id = $1', [
      card_id,
      there.params.board_id,
      there.params.column_id,
      'There',
    ])
    await held.release()

    expect(await response).toMatchObject({ status: 404, code: 'card_not_found' })
    expect((await there.read()).columns[0]?.cards.map(({ title }) => title)).toEqual(['There'])
  })
})
