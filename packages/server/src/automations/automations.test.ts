import type { AutomationRule } from '@lockstep/contract/automations'
import type { Card } from '@lockstep/contract/cards'
import type { Label } from '@lockstep/contract/labels'
import { Client } from '@lockstep/testing/client'
import { recordEvents } from '@lockstep/testing/fold'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { startProxy } from '@lockstep/testing/tcp-proxy'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Database } from '../database/database.ts'
import { deleteExpiredRuns } from './automation-queries.ts'

let service: TestService
let elsewhere: TestBoard
beforeAll(async () => {
  service = await startService()
  elsewhere = await service.board()
})
afterAll(() => service.stop())

/** A board with two columns, a label, a card in the first column, and functions to create rules. */
async function scene() {
  const board = await service.board()
  const { owner, member, columns } = board
  const params = { board_id: board.id }
  const label: Label = await owner.api.call('createLabel', { params, body: { name: 'Urgent' } })
  const [todo, done] = columns
  const card: Card = await member.api.call('createCard', {
    params: { ...params, column_id: todo.id },
    body: { title: 'Card' },
  })
  const rule = (fields: Partial<AutomationRule>) =>
    owner.api.call('createRule', { params, body: { name: 'Rule', ...fields } as never })
  const onMove = { trigger_type: 'CARD_MOVED', trigger_column_id: done.id } as const
  const onLabel = { trigger_type: 'LABEL_ADDED', trigger_label_id: label.id } as const
  const toTodo = { action_type: 'MOVE_TO_COLUMN', action_column_id: todo.id } as const
  const assign = { action_type: 'ASSIGN_MEMBER', action_user_id: owner.id } as const
  const move = (column_id = done.id) =>
    member.api.send('moveCard', { params: { card_id: card.id }, body: { column_id, position: 0 } })
  const addLabel = () => member.api.send('addCardLabel', { params: { card_id: card.id, label_id: label.id } })
  const read = () => member.api.call('getCard', { params: { card_id: card.id } })
  const rules = () => member.api.call('listRules', { params })
  const runs = () => member.api.call('listRuns', { params })
  return {
    board,
    owner,
    member,
    params,
    todo,
    done,
    card,
    label,
    rule,
    onMove,
    onLabel,
    toTodo,
    assign,
    move,
    addLabel,
    read,
    rules,
    runs,
  }
}
const typesAndUsers = (events: { type: string; user_id: string | null }[]) =>
  events.map(({ type, user_id }) => [type, user_id])

describe('rules', () => {
  test('[AUTO-1] are created, listed, changed and deleted by owners, and read by members', async () => {
    const s = await scene()
    const first = await s.rule({ ...s.onMove, ...s.assign })
    expect(first).toMatchObject({
      board_id: s.board.id,
      is_enabled: true,
      trigger_label_id: null,
      action_column_id: null,
    })
    const second = await s.rule({ ...s.onLabel, ...s.toTodo, is_enabled: false })
    expect(await s.rules()).toEqual([first, second])
    const params = { rule_id: first.id }
    const changed = await s.owner.api.call('updateRule', { params, body: { name: 'Renamed', is_enabled: false } })
    expect(changed).toEqual({ ...first, name: 'Renamed', is_enabled: false })
    await s.owner.api.call('deleteRule', { params })
    expect(await s.rules()).toEqual([second])
    expect(await s.owner.api.fail('deleteRule', { params })).toMatchObject({ status: 404, code: 'rule_not_found' })
  })

  test('[AUTO-1] [REQ-19] types are accepted in lower case, and returned as specified', async () => {
    const s = await scene()
    const lower = { trigger_type: 'card_moved', action_type: 'assign_member' } as unknown as Partial<AutomationRule>
    expect(await s.rule({ ...s.onMove, ...s.assign, ...lower })).toMatchObject({
      trigger_type: 'CARD_MOVED',
      action_type: 'ASSIGN_MEMBER',
    })
  })

  test('[AUTO-12] without a required reference are accepted, and match nothing', async () => {
    const s = await scene()
    const incomplete = [
      { ...s.onMove, ...s.assign, trigger_column_id: null },
      { ...s.onLabel, ...s.assign, trigger_label_id: null },
      { ...s.onMove, ...s.assign, action_user_id: null },
      { trigger_type: 'CARD_MOVED', trigger_column_id: s.done.id, action_type: 'MOVE_TO_COLUMN' },
      { trigger_type: 'LABEL_ADDED', action_type: 'ASSIGN_MEMBER' },
    ] as const
    for (const fields of incomplete) {
      const created = await s.rule(fields)
      expect(created).toMatchObject({ ...fields, is_enabled: true })
    }
    const { events } = await recordEvents(s.board, async () => {
      await s.move()
      return s.addLabel()
    })
    expect(typesAndUsers(events)).toEqual([
      ['card.moved', s.member.id],
      ['card.labeled', s.member.id],
    ])
    expect(await s.runs()).toEqual([])
    expect(await s.rules()).toHaveLength(incomplete.length)
  })

  test('[AUTO-13] a PATCH validates only what it sends: a rule with missing references can be renamed, enabled, disabled', async () => {
    const s = await scene()
    const guest = await service.user()
    await s.owner.api.call('inviteMember', { params: s.params, body: { user_id: guest.id } })
    const { id } = await s.rule({ ...s.onLabel, action_type: 'ASSIGN_MEMBER', action_user_id: guest.id })
    await s.owner.api.call('deleteLabel', { params: { label_id: s.label.id } })
    await s.owner.api.call('removeMember', { params: { ...s.params, user_id: guest.id } })
    const update = (body: Partial<AutomationRule>) => s.owner.api.call('updateRule', { params: { rule_id: id }, body })
    const broken = { trigger_label_id: null, action_user_id: null }
    expect(await update({ name: 'Renamed' })).toMatchObject({ name: 'Renamed', is_enabled: false, ...broken })
    expect(await update({ is_enabled: true })).toMatchObject({ is_enabled: true, ...broken })
    expect(await update({ is_enabled: false })).toMatchObject({ is_enabled: false, ...broken })
    expect(await update({ trigger_type: 'CARD_MOVED' })).toMatchObject({ trigger_type: 'CARD_MOVED', ...broken })
    expect(await update({ action_user_id: s.owner.id })).toMatchObject({ action_user_id: s.owner.id })
    const foreign = { trigger_column_id: elsewhere.columns[0].id }
    const rejected = { params: { rule_id: id }, body: { name: 'Not this', ...foreign } }
    expect(await s.owner.api.fail('updateRule', rejected)).toMatchObject({ status: 404, code: 'column_not_found' })
    expect((await s.rules())[0]).toMatchObject({ name: 'Renamed', trigger_column_id: null })
  })

  test('[AUTO-2] [ACCESS-5] refer to nothing of another board, needed or not', async () => {
    const s = await scene()
    const create = (fields: object) =>
      s.owner.api.fail('createRule', { params: s.params, body: { name: 'Rule', ...s.onMove, ...s.assign, ...fields } })
    const foreign = elsewhere.columns[0].id
    expect(await create({ trigger_column_id: foreign })).toMatchObject({ status: 404, code: 'column_not_found' })
    expect(await create({ action_column_id: foreign })).toMatchObject({ status: 404, code: 'column_not_found' })
    expect(await create({ trigger_label_id: crypto.randomUUID() })).toMatchObject({
      status: 404,
      code: 'label_not_found',
    })
    expect(await create({ action_user_id: elsewhere.owner.id })).toMatchObject({
      status: 403,
      code: 'user_not_a_member',
    })
    expect(await create({ action_user_id: crypto.randomUUID() })).toMatchObject({ status: 404, code: 'user_not_found' })
  })
})

test('[AUTO-10] a board has at most 100 rules, also when several are created concurrently', async () => {
  const s = await scene()
  // Each of them would move every card that enters the column, while the board is locked.
  const many = `insert into automation_rules
      (board_id, id, name, trigger_type, trigger_column_id, action_type, action_column_id, is_enabled)
    select $1, gen_random_uuid(), 'Rule', 'CARD_MOVED', $2, 'MOVE_TO_COLUMN', $3, true from generate_series(1, 98)`
  await service.sql.query(many, [s.board.id, s.done.id, s.todo.id])
  const one = { name: 'One more', ...s.onMove, ...s.assign }
  const create = () => s.owner.api.send('createRule', { params: s.params, body: one })
  const responses = await Promise.all([create(), create(), create(), create()])
  expect(responses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 201, 409, 409])
  expect(await s.owner.api.fail('createRule', { params: s.params, body: one })).toMatchObject({
    code: 'too_many_rules',
  })
  expect(await s.rules()).toHaveLength(100)
  const [first] = await s.rules()
  await s.owner.api.call('deleteRule', { params: { rule_id: first?.id as string } })
  expect((await create()).status).toBe(201)
})

test('[AUTO-14] the card is read for rules that change it, and not for those that do nothing or exceed a quota', async () => {
  const CARD_BYTES = 50_000
  const proxy = await startProxy(service.databaseUrl)
  const quotas = { QUOTAS: 'on', MAX_BOARD_TEXT_BYTES: '100000', MAX_BOARD_LOG_BYTES_PER_MINUTE: '250000' }
  const counted = await startService({ DATABASE_URL: proxy.url, ...quotas }, { beside: service })
  /** How many times the database returned the card when a move triggered 50 rules, and the outcome of each rule. */
  const moveWith = async (actions: (s: Awaited<ReturnType<typeof scene>>) => object[], filled = 0) => {
    const s = await scene()
    const api = new Client(counted.baseUrl, s.member.api.token as string)
    const params = { card_id: s.card.id }
    await s.owner.api.call('updateCard', { params, body: { description: 'x'.repeat(CARD_BYTES) } })
    await s.owner.api.call('assignCard', { params, body: { user_ids: [s.member.id] } })
    await s.owner.api.call('updateBoard', { params: s.params, body: { description: 'x'.repeat(filled) } })
    const chosen = actions(s)
    for (let i = 0; i < 50; i++) await s.rule({ ...s.onMove, ...chosen[i % chosen.length] })
    await service.sql.query('update board_stream set log_bytes = 0 where board_id = $1', [s.board.id])
    const before = proxy.sentBytes()
    const moved = await api.call('moveCard', { params, body: { column_id: s.done.id } })
    const times = Math.floor((proxy.sentBytes() - before) / CARD_BYTES)
    expect(moved).toEqual(await s.read())
    const outcomes = (await s.runs()).map(({ outcome }) => outcome)
    return {
      times,
      outcomes: Object.fromEntries(outcomes.map((each) => [each, outcomes.filter((o) => o === each).length])),
    }
  }
  try {
    const assign = (id: string) => ({ action_type: 'ASSIGN_MEMBER', action_user_id: id })
    const moveTo = (id: string) => ({ action_type: 'MOVE_TO_COLUMN', action_column_id: id })
    expect(await moveWith((s) => [assign(s.member.id), moveTo(s.done.id)])).toEqual({
      times: 1,
      outcomes: { already_assigned: 25, already_there: 25 },
    })
    expect(await moveWith((s) => [assign(s.owner.id)], 60_000)).toEqual({ times: 1, outcomes: { failed: 50 } })
    // The events of the user and of three rules fit into the log quota.
    expect(await moveWith((s) => [moveTo(s.todo.id), moveTo(s.done.id)])).toEqual({
      times: 4,
      outcomes: { moved: 3, already_there: 23, failed: 24 },
    })
  } finally {
    await counted.stop()
    await proxy.close()
  }
})

describe('triggers', () => {
  test('[AUTO-3] [AUTO-4] [AUTO-5] a move into the column: the event of the rule follows that of the user, and the response is the final card', async () => {
    const s = await scene()
    await s.rule({ ...s.onMove, ...s.toTodo })
    await s.rule({ ...s.onMove, ...s.assign })
    const { response, events } = await recordEvents(s.board, () => s.move())
    expect(typesAndUsers(events)).toEqual([
      ['card.moved', s.member.id],
      ['card.moved', null],
      ['card.assigned', null],
    ])
    expect(response.body).toEqual(await s.read())
    expect(response.body).toMatchObject({ column_id: s.todo.id, assignees: [{ id: s.owner.id }] })
    expect(events.at(-1)?.data).toEqual(response.body)
  })

  test('[AUTO-3] [AUTO-4] a label that is newly added, and not one that was there', async () => {
    const s = await scene()
    await s.rule({ ...s.onLabel, ...s.assign })
    const { response, events } = await recordEvents(s.board, s.addLabel)
    expect(typesAndUsers(events)).toEqual([
      ['card.labeled', s.member.id],
      ['card.assigned', null],
    ])
    expect(response.body).toEqual(await s.read())
    expect((await recordEvents(s.board, s.addLabel)).events).toEqual([])
  })

  test('[AUTO-3] no trigger: a move within the column, a creation, a disabled rule, another column', async () => {
    const s = await scene()
    await s.rule({ ...s.onMove, ...s.assign, is_enabled: false })
    await s.rule({ trigger_type: 'CARD_MOVED', trigger_column_id: s.todo.id, ...s.assign })
    await s.rule({ trigger_type: 'CARD_CREATED', ...s.assign })
    const create = { params: { ...s.params, column_id: s.todo.id }, body: { title: 'New' } }
    expect(typesAndUsers((await recordEvents(s.board, () => s.member.api.send('createCard', create))).events)).toEqual([
      ['card.created', s.member.id],
    ])
    expect(typesAndUsers((await recordEvents(s.board, () => s.move(s.todo.id))).events)).toEqual([
      ['card.moved', s.member.id],
    ])
    expect(typesAndUsers((await recordEvents(s.board, () => s.move())).events)).toEqual([['card.moved', s.member.id]])
    expect(await s.runs()).toEqual([])
  })

  test('[AUTO-4] [AUTO-9] an action without an effect changes nothing, and the run says so', async () => {
    const s = await scene()
    await s.rule({ ...s.onMove, action_type: 'MOVE_TO_COLUMN', action_column_id: s.done.id })
    await s.rule({ ...s.onMove, ...s.assign })
    await s.owner.api.call('assignCard', { params: { card_id: s.card.id }, body: { user_ids: [s.owner.id] } })
    const { events } = await recordEvents(s.board, () => s.move())
    expect(typesAndUsers(events)).toEqual([['card.moved', s.member.id]])
    expect((await s.runs()).map(({ outcome }) => outcome)).toEqual(['already_assigned', 'already_there'])
  })

  test('[AUTO-6] the action of a rule triggers no other rule', async () => {
    const s = await scene()
    await s.rule({ ...s.onMove, ...s.toTodo })
    await s.rule({
      trigger_type: 'CARD_MOVED',
      trigger_column_id: s.todo.id,
      action_type: 'MOVE_TO_COLUMN',
      action_column_id: s.done.id,
    })
    expect((await recordEvents(s.board, () => s.move())).events).toHaveLength(2)
    expect((await s.read()).column_id).toBe(s.todo.id)
  })
})

describe('failures', () => {
  test('[AUTO-7] [AUTO-9] a rule that fails leaves neither change nor event, and other rules run', async () => {
    const s = await scene()
    const bad = await s.rule({ ...s.onMove, ...s.toTodo, name: 'Bad' })
    await s.rule({ ...s.onMove, ...s.assign, name: 'Good' })
    // The database rejects the first action after it has started.
    await service.sql.query(`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
      create trigger refuse after update on cards for each row when (new.column_id = '${s.todo.id}') execute function refuse()`)
    const { response, events } = await recordEvents(s.board, () => s.move())
    await service.sql.query('drop trigger refuse on cards; drop function refuse')
    expect(response.status).toBe(200)
    expect(typesAndUsers(events)).toEqual([
      ['card.moved', s.member.id],
      ['card.assigned', null],
    ])
    expect(await s.read()).toMatchObject({ column_id: s.done.id, assignees: [{ id: s.owner.id }] })
    const [good, failed] = await s.runs()
    expect(good).toMatchObject({ rule_name: 'Good', outcome: 'assigned' })
    expect(failed).toMatchObject({ rule_id: bad.id, card_id: s.card.id, outcome: 'failed', cause_seq: good?.cause_seq })
  })

  test('[AUTO-8] a rule whose column, label or member is deleted is disabled', async () => {
    const s = await scene()
    const guest = await service.user()
    await s.owner.api.call('inviteMember', { params: s.params, body: { user_id: guest.id } })
    const third = await s.owner.api.call('createColumn', { params: s.params, body: { title: 'Third' } })
    await s.rule({ ...s.onLabel, ...s.assign })
    await s.rule({ ...s.onMove, action_type: 'ASSIGN_MEMBER', action_user_id: guest.id })
    await s.rule({ ...s.onMove, action_type: 'MOVE_TO_COLUMN', action_column_id: third.id })
    const kept = await s.rule({ ...s.onMove, ...s.assign })
    await s.owner.api.call('deleteLabel', { params: { label_id: s.label.id } })
    await s.owner.api.call('removeMember', { params: { ...s.params, user_id: guest.id } })
    await s.owner.api.call('deleteColumn', { params: { column_id: third.id } })
    const rules = await s.rules()
    expect(rules.map(({ is_enabled }) => is_enabled)).toEqual([false, false, false, true])
    expect(rules.at(-1)).toEqual(kept)
  })

  test('[AUTO-7] [WRITE-6] rules racing with moves, deletions and removals fail no request and run once for each cause', async () => {
    const s = await scene()
    await s.rule({ ...s.onMove, ...s.toTodo })
    await s.rule({ ...s.onMove, ...s.assign })
    const throwaway = await s.owner.api.call('createColumn', { params: s.params, body: { title: 'Away' } })
    await s.rule({ trigger_type: 'CARD_MOVED', trigger_column_id: throwaway.id, ...s.toTodo })
    await s.rule({ ...s.onLabel, ...s.assign })
    const guest = await service.user()
    await s.owner.api.call('inviteMember', { params: s.params, body: { user_id: guest.id } })
    await s.rule({ ...s.onMove, action_type: 'ASSIGN_MEMBER', action_user_id: guest.id })
    const moves = Array.from({ length: 12 }, () => s.move())
    const others = [
      s.owner.api.send('deleteColumn', { params: { column_id: throwaway.id } }),
      s.owner.api.send('deleteLabel', { params: { label_id: s.label.id } }),
      s.owner.api.send('removeMember', { params: { ...s.params, user_id: guest.id } }),
    ]
    const statuses = (await Promise.all([...moves, ...others])).map(({ status }) => status)
    expect(statuses.filter((status) => status >= 400)).toEqual([])
    const runs = await s.runs()
    const once = new Set(runs.map(({ rule_id, cause_seq }) => `${rule_id} ${cause_seq}`))
    expect(once.size).toBe(runs.length)
    expect((await s.read()).assignees.map(({ id }) => id)).not.toContain(guest.id)
  })
})

test('[AUTO-9] runs are listed newest first, page by page', async () => {
  const s = await scene()
  await s.rule({ ...s.onMove, ...s.toTodo })
  for (let i = 0; i < 3; i++) await s.move()
  const all = await s.runs()
  expect(all.map(({ outcome }) => outcome)).toEqual(['moved', 'moved', 'moved'])
  expect(all.map(({ cause_seq }) => cause_seq)).toEqual(all.map(({ cause_seq }) => cause_seq).toSorted((a, b) => b - a))
  const first = await s.member.api.send('listRuns', { params: s.params, query: { limit: 2 } })
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? ''
  const rest = await s.member.api.request('GET', next)
  expect([...(first.body as unknown[]), ...(rest.body as unknown[])]).toEqual(all)
})

test('[AUTO-11] runs are deleted with the events of their time', async () => {
  const s = await scene()
  await s.rule({ ...s.onMove, ...s.toTodo })
  for (let i = 0; i < 3; i++) await s.move()
  const [youngest] = await s.runs()
  await service.sql.query(
    `update automation_runs set created_at = now() - interval '31 days' where board_id = $1 and id <> $2`,
    [s.params.board_id, youngest?.id],
  )
  const db = new Database({ url: service.databaseUrl, size: 2, onError: () => {} })
  expect(await deleteExpiredRuns(db, 32)).toBe(0)
  expect(await deleteExpiredRuns(db, 30)).toBe(2)
  await db.close()
  expect(await s.runs()).toEqual([youngest])
})
