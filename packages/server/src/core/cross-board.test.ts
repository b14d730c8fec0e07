import { randomUUID } from 'node:crypto'
import { operations } from '@lockstep/contract'
import type { Operation } from '@lockstep/contract/operation'
import type { Failure } from '@lockstep/testing/client'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

interface Place {
  board_id: string
  column_id: string
  card_id: string
  label_id: string
  checklist_id: string
  item_id: string
  attachment_id: string
  comment_id: string
  rule_id: string
  invitation_id: string
  webhook_id: string
  token_id: string
  user_id: string
  removed_id: string
}
const HOOK = 'https://hooks.example.com'
let service: TestService
let mine: TestBoard
/** My board, my other board, and a board of another user. */
let places: Record<'here' | 'other' | 'foreign', Place>

beforeAll(async () => {
  service = await startService()
  const [here, foreign] = await Promise.all([service.board(), service.board()])
  mine = here
  const { api } = mine.owner
  const { id: board_id } = await api.call('createBoard', { body: { title: 'My other board' } })
  const column = await api.call('createColumn', { params: { board_id }, body: { title: 'Elsewhere' } })
  const guest = await service.user()
  await api.call('inviteMember', { params: { board_id }, body: { user_id: guest.id } })
  places = {
    here: await furnished(here, here.id, here.columns[0].id, here.member.id),
    other: await furnished(here, board_id, column.id, guest.id),
    foreign: await furnished(foreign, foreign.id, foreign.columns[0].id, foreign.member.id),
  }
})
afterAll(() => service.stop())

async function furnished({ owner }: TestBoard, board_id: string, column_id: string, user_id: string): Promise<Place> {
  const params = { board_id, column_id }
  const { id: card_id } = await owner.api.call('createCard', { params, body: { title: 'Card' } })
  const { id: label_id } = await owner.api.call('createLabel', { params: { board_id }, body: { name: 'Label' } })
  const { id: checklist_id } = await owner.api.call('createChecklist', { params: { card_id }, body: { title: 'List' } })
  const { id: item_id } = await owner.api.call('createItem', { params: { checklist_id }, body: { content: 'Item' } })
  const { id: rule_id } = await owner.api.call('createRule', {
    params: { board_id },
    body: { name: 'Rule', trigger_type: 'CARD_CREATED', action_type: 'ASSIGN_MEMBER', action_user_id: user_id },
  })
  const { id: attachment_id } = await owner.api.call('createAttachment', {
    params: { card_id },
    body: { file: new File(['Content'], 'note.txt') },
  })
  const invitation = await owner.api.call('createInvitation', { params: { board_id }, body: {} })
  const token = await owner.api.call('createToken', { body: { name: 'Bot', scope: 'read', board_id } })
  const webhook = await owner.api.call('createWebhook', { params: { board_id }, body: { name: 'CI', url: HOOK } })
  const access = { invitation_id: invitation.id, token_id: token.id, webhook_id: webhook.id }
  const { id: removed_id } = await owner.api.call('createCard', { params, body: { title: 'Archived' } })
  await owner.api.call('archiveCard', { params: { card_id: removed_id } })
  const written = await owner.api.call('createComment', { params: { card_id }, body: { body: 'Comment' } })
  const comment_id = written.id
  return {
    ...params,
    card_id,
    attachment_id,
    comment_id,
    label_id,
    checklist_id,
    item_id,
    rule_id,
    ...access,
    user_id,
    removed_id,
  }
}

interface Reference {
  name: keyof typeof operations
  operation: Operation
  field: string
  place: 'path' | 'body'
}
/** Every id that an operation takes, besides the one it is authorized by and the one of the new resource. */
const references = Object.entries<Operation>(operations).flatMap(([name, operation]): Reference[] => {
  const { access, params, body } = operation
  if (typeof access === 'string') return []
  const isId = ([field, schema]: [string, unknown]) => field !== 'id' && JSON.stringify(schema).includes('"uuid"')
  const fields = (schema: unknown) =>
    Object.entries((schema as { properties?: object } | undefined)?.properties ?? {})
      .filter(isId)
      .map(([field]) => field)
  const about = (place: Reference['place']) => (field: string) =>
    ({ name: name as Reference['name'], operation, field, place }) satisfies Reference
  const second = fields(params).filter((field) => field !== `${access.on}_id`)
  return [...second.map(about('path')), ...fields(body).map(about('body'))]
})

/** References with their own rules. All others are 404 unless they belong to the board. */
const exceptions: Record<string, string> = {
  'createColumn.after_id': 'ORDER-2: an anchor that is not in the list falls back',
  'moveColumn.after_id': 'ORDER-2',
  'createCard.after_id': 'ORDER-2',
  'moveCard.after_id': 'ORDER-2',
  'inviteMember.user_id': 'MEMBER-2: any existing user can be invited',
  'assignCard.user_ids': 'CARD-7: a user who is not a member is 403',
  'unassignCard.user_id': 'CARD-8: who is not assigned is 204',
  'moveChecklist.after_id': 'ORDER-2',
  'moveItem.after_id': 'ORDER-2',
  'restoreRemoved.after_id': 'ORDER-2',
  'assignItem.user_ids': 'CHECK-8: a user who is not a member is 403',
  'createRule.action_user_id': 'AUTO-2: a user who is not a member is 403',
  'updateRule.action_user_id': 'AUTO-2',
  'listCardEvents.card_id': 'HIST-5: a card that is not on the board may have a history; one of another board has none',
  'unassignItem.user_id': 'CHECK-8: who is not assigned is 204',
}
const isException = ({ name, field }: Reference) => `${name}.${field}` in exceptions

/** Calls an operation on my board, with one reference to another board. */
async function refer({ name, operation, field, place }: Reference, id: string) {
  const { method, path, body } = operation
  const params: Record<string, string> = { ...places.here, ...(place === 'path' && { [field]: id }) }
  const url = path.replaceAll(/\{(\w+)\}/g, (_, key: string) => params[key] as string)
  const value = field.endsWith('_ids') ? [id] : id
  const rule = {
    name: 'One',
    trigger_type: 'CARD_CREATED',
    action_type: 'ASSIGN_MEMBER',
    action_user_id: places.here.user_id,
  }
  const valid = { title: 'One', position: 0, role: 'member', url: HOOK, ...rule }
  const json = body && { ...valid, ...(place === 'body' && { [field]: value }) }
  const response = await mine.owner.api.request(method, url, { json })
  return `${name}: ${response.status} ${(response.body as Partial<Failure> | undefined)?.code ?? ''}`.trim()
}
/** `trigger_column_id` and `user_ids` name a column and users. */
const kindOf = (field: string) => field.replace(/^(trigger|action)_/, '').replace(/_ids?$/, '')
const idOf = (place: Place, field: string) => place[`${kindOf(field)}_id` as keyof Place]

/** Every row of every table, the log included. */
const content = async () => {
  const { rows: tables } = await service.sql.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public'`,
  )
  const rows = tables.map(({ name }) => `(select json_agg(t order by t::text) from "${name}" t) as "${name}"`)
  return (await service.sql.query(`select ${rows.join()}`)).rows[0]
}

describe('references over HTTP', () => {
  test.each(
    references
      .filter((reference) => !isException(reference))
      .map((reference) => [reference.name, reference.field, reference] as const),
  )(
    '[ACCESS-5] [ACCESS-4] [V01] [V03] [V09] %s accepts no %s that is missing or of another board',
    async (name, field, reference) => {
      const before = await content()
      const ids = [randomUUID(), idOf(places.other, field), idOf(places.foreign, field)]
      const responses = await Promise.all(ids.map((id) => refer(reference, id)))
      const missing =
        reference.operation.problems?.find((code) => code === `${kindOf(field)}_not_found`) ?? 'member_not_found'
      expect(responses).toEqual(Array(3).fill(`${name}: 404 ${missing}`))
      expect(await content()).toEqual(before)
    },
  )

  test('[ACCESS-5] there are references, and every exception is one', () => {
    const found = references.map(({ name, field }) => `${name}.${field}`)
    expect(found).toEqual(
      expect.arrayContaining(['createCard.column_id', 'moveCard.column_id', 'removeMember.user_id']),
    )
    expect(found).toEqual(expect.arrayContaining(Object.keys(exceptions)))
  })

  test.each(
    references
      .filter(({ name, field, place }) => place === 'body' && field === 'after_id' && name !== 'restoreRemoved')
      .map((reference) => [reference.name, reference] as const),
  )(
    '[ACCESS-5] [ORDER-2] %s learns nothing from an anchor of another board: it is the same as a deleted one',
    async (name, reference) => {
      const item = `${name.replace(/^(create|move)/, '').toLowerCase()}_id` as keyof Place
      const ids = [randomUUID(), places.other[item], places.foreign[item]]
      const responses = await Promise.all(ids.map((id) => refer(reference, id)))
      expect(responses).toEqual(Array(3).fill(`${name}: ${reference.operation.returns.status}`))
    },
  )

  test('[ACCESS-5] [ORDER-2] restoreRemoved neither', async () => {
    const reference = references.find(({ name, field }) => name === 'restoreRemoved' && field === 'after_id')
    for (const id of [randomUUID(), places.other.card_id, places.foreign.card_id]) {
      expect(await refer(reference as Reference, id)).toBe('restoreRemoved: 200')
      await mine.owner.api.call('archiveCard', { params: { card_id: places.here.removed_id } })
    }
  })

  test('[ACCESS-5] users belong to no board: unknown ones are 404, members of other boards 403 or as their rule says', async () => {
    const { board_id, card_id } = places.here
    const { api } = mine.owner
    const assign = (user_id: string) => api.fail('assignCard', { params: { card_id }, body: { user_ids: [user_id] } })
    const stop = (user_id: string) => api.call('unassignCard', { params: { card_id, user_id } })
    for (const { user_id } of [places.other, places.foreign]) {
      expect(await assign(user_id)).toMatchObject({ status: 403, code: 'user_not_a_member' })
      await stop(user_id)
    }
    expect(await assign(randomUUID())).toMatchObject({ status: 404, code: 'user_not_found' })
    const invitation = { params: { board_id }, body: { user_id: randomUUID() } }
    expect(await api.fail('inviteMember', invitation)).toMatchObject({ status: 404, code: 'user_not_found' })
  })

  test('[ACCESS-5] [WRITE-2] the id of a resource on another board is taken, and that resource is not changed', async () => {
    const { board_id, column_id } = places.here
    const { api } = mine.owner
    const before = await content()
    for (const place of [places.other, places.foreign]) {
      const card = { params: { board_id, column_id }, body: { id: place.card_id, title: 'Mine now' } }
      expect(await api.fail('createCard', card)).toMatchObject({ status: 409, code: 'id_taken' })
      const column = { params: { board_id }, body: { id: place.column_id, title: 'Mine now' } }
      expect(await api.fail('createColumn', column)).toMatchObject({ status: 409, code: 'id_taken' })
      const board = { body: { id: place.board_id, title: 'Mine now' } }
      expect(await api.fail('createBoard', board)).toMatchObject({ status: 409, code: 'id_taken' })
    }
    expect(await content()).toEqual(before)
  })
})

describe('references in the database', () => {
  const rejected = { code: '23503' }

  test.each(['other', 'foreign'] as const)('[ACCESS-6] no row can refer to the %s board', async (whose) => {
    const { here, [whose]: there } = places
    const run = (text: string, ...values: string[]) => service.sql.query(text, values)
    const toColumn = 'update cards set column_id = $2 where id = $1'
    await expect(run(toColumn, here.card_id, there.column_id)).rejects.toMatchObject(rejected)
    const newCard = `insert into cards (board_id, id, column_id, title, rank, number, created_at, updated_at)
      values ($1, gen_random_uuid(), $2, 'x', 1, 1, now(), now())`
    await expect(run(newCard, here.board_id, there.column_id)).rejects.toMatchObject(rejected)
    const toBoard = 'update cards set board_id = $2 where id = $1'
    await expect(run(toBoard, here.card_id, there.board_id)).rejects.toMatchObject(rejected)
    const assign = 'insert into card_assignees (board_id, card_id, user_id) values ($1, $2, $3)'
    await expect(run(assign, here.board_id, there.card_id, here.user_id)).rejects.toMatchObject(rejected)
    await expect(run(assign, here.board_id, here.card_id, there.user_id)).rejects.toMatchObject(rejected)
    await expect(run(assign, there.board_id, here.card_id, there.user_id)).rejects.toMatchObject(rejected)
    const mark = 'insert into card_labels (board_id, card_id, label_id) values ($1, $2, $3)'
    await expect(run(mark, here.board_id, here.card_id, there.label_id)).rejects.toMatchObject(rejected)
    await expect(run(mark, here.board_id, there.card_id, here.label_id)).rejects.toMatchObject(rejected)
    const toCard = 'update checklists set card_id = $2 where id = $1'
    await expect(run(toCard, here.checklist_id, there.card_id)).rejects.toMatchObject(rejected)
    const toOther = 'update comments set card_id = $2 where id = $1'
    await expect(run(toOther, here.comment_id, there.card_id)).rejects.toMatchObject(rejected)
    const toList = 'update checklist_items set checklist_id = $2 where id = $1'
    await expect(run(toList, here.item_id, there.checklist_id)).rejects.toMatchObject(rejected)
    const newList = `insert into checklists (board_id, id, card_id, title, rank) values ($1, gen_random_uuid(), $2, 'x', 7)`
    await expect(run(newList, here.board_id, there.card_id)).rejects.toMatchObject(rejected)
    await expect(run(newList, there.board_id, here.card_id)).rejects.toMatchObject(rejected)
    const newItem = `insert into checklist_items (board_id, id, checklist_id, content, rank) values ($1, gen_random_uuid(), $2, 'x', 7)`
    await expect(run(newItem, here.board_id, there.checklist_id)).rejects.toMatchObject(rejected)
    await expect(run(newItem, there.board_id, here.checklist_id)).rejects.toMatchObject(rejected)
    const assignItem = 'insert into item_assignees (board_id, item_id, user_id) values ($1, $2, $3)'
    await expect(run(assignItem, here.board_id, there.item_id, here.user_id)).rejects.toMatchObject(rejected)
    await expect(run(assignItem, here.board_id, here.item_id, there.user_id)).rejects.toMatchObject(rejected)
    await expect(run(assignItem, there.board_id, here.item_id, there.user_id)).rejects.toMatchObject(rejected)
    // Rows cannot be moved to another board either, whether others refer to them or they refer to others.
    for (const [table, id] of [
      ['columns', here.column_id],
      ['checklists', here.checklist_id],
      ['checklist_items', here.item_id],
      ['automation_rules', here.rule_id],
    ] as const)
      await expect(run(`update ${table} set board_id = $2 where id = $1`, id, there.board_id)).rejects.toMatchObject(
        rejected,
      )
    for (const field of ['trigger_column_id', 'trigger_label_id', 'action_column_id', 'action_user_id'] as const) {
      const point = `update automation_rules set ${field} = $2 where id = $1`
      await expect(run(point, here.rule_id, idOf(there, field))).rejects.toMatchObject(rejected)
    }
    // The same rows within one board are valid: only the other board was rejected above.
    await run(toColumn, here.card_id, mine.columns[1].id)
    await run(toColumn, here.card_id, here.column_id)
    await run(assign, here.board_id, here.card_id, here.user_id)
    await run('delete from card_assignees')
  })

  test('[ACCESS-6] every foreign key between tables of boards includes the board', async () => {
    const { rows } = await service.sql.query<{ name: string; columns: string[]; targets: string[] }>(`
      with board_scoped as (
        select attrelid from pg_attribute a join pg_class c on c.oid = a.attrelid and c.relkind = 'r'
        where attname = 'board_id' and not attisdropped and relnamespace = 'public'::regnamespace)
      select conname as name,
        (select array_agg(attname::text) from pg_attribute where attrelid = conrelid and attnum = any (conkey)) as columns,
        (select array_agg(attname::text) from pg_attribute where attrelid = confrelid and attnum = any (confkey)) as targets
      from pg_constraint
      where contype = 'f' and conrelid in (table board_scoped) and confrelid in (table board_scoped)`)
    expect(rows.length).toBeGreaterThanOrEqual(3)
    for (const { columns, targets } of rows) {
      expect(columns).toContain('board_id')
      expect(targets).toContain('board_id')
    }
  })
})
