import { randomUUID } from 'node:crypto'
import { operations } from '@lockstep/contract'
import { administrationOperations } from '@lockstep/contract/administration'
import { authOperations } from '@lockstep/contract/auth'
import { healthOperations } from '@lockstep/contract/health'
import { adminInvitationOperations, linkOperations } from '@lockstep/contract/invitations'
import { tokenOperations } from '@lockstep/contract/tokens'
import { userOperations } from '@lockstep/contract/users'
import { Client, type OperationName } from '@lockstep/testing/client'
import { startService, type TestService } from '@lockstep/testing/service'
import { startProxy, type TcpProxy, type Traffic } from '@lockstep/testing/tcp-proxy'
import { WebhookReceiver } from '@lockstep/testing/webhook-receiver'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Database } from '../packages/server/src/database/database.ts'
import { PipelinedConnection } from '../packages/server/src/database/pipeline.ts'

let service: TestService
let counted: TestService
let proxy: TcpProxy
let receiver: WebhookReceiver
beforeAll(async () => {
  service = await startService()
  receiver = await WebhookReceiver.start()
  proxy = await startProxy(service.databaseUrl)
  // A second instance, which reaches the database of the first one through the proxy.
  counted = await startService({ DATABASE_URL: proxy.url })
})
afterAll(async () => {
  await counted.stop()
  await proxy.close()
  await service.stop()
  await receiver.close()
})

interface Size {
  boards: number
  columns: number
  cards: number
  people: number
  oldResponses: number
}
const SMALL: Size = { boards: 1, columns: 3, cards: 3, people: 2, oldResponses: 0 }
const LARGE: Size = { boards: 15, columns: 20, cards: 200, people: 20, oldResponses: 50 }

type Ids = [string, string, string, ...string[]]
/** A board of some size, and its owner with a client through the proxy. */
interface World {
  api: Client
  board: { board_id: string }
  emptyColumn: { column_id: string }
  fullColumn: { column_id: string }
  cards: Ids
  /** The first card of the full column. */
  card: { card_id: string }
  /** A label on every card, one on none, and the first card's checklists with their items. */
  label: { label_id: string }
  newLabel: { label_id: string }
  checklist: { checklist_id: string }
  item: { item_id: string }
  rule: { rule_id: string }
  inboxItem: { inbox_item_id: string }
  attachment: { attachment_id: string }
  comment: { comment_id: string }
  invitation: { invitation_id: string }
  webhook: { webhook_id: string }
  /** The URL of a receiver of webhooks. */
  receiver: string
  /** Members of the board; the first one is assigned to every card. */
  people: [string, ...string[]]
  /** Not a member yet. */
  newcomer: string
}

async function makeWorld(size: Size): Promise<World> {
  const owner = await service.user()
  for (let i = 1; i < size.boards; i++) await owner.api.call('createBoard', { body: { title: 'Another' } })
  const { id: board_id } = await owner.api.call('createBoard', { body: { title: 'Plan' } })
  const run = async (text: string, values: unknown[]) =>
    (await service.sql.query<{ id: string }>(text, values)).rows.map((row) => row.id) as Ids
  const [newcomer, ...people] = await run(
    `insert into users (id, email, email_key, username, username_key, hashed_password)
    select id::uuid, id, id, id, id, '' from (select gen_random_uuid()::text as id from generate_series(0, $1)) made
    returning id`,
    [size.people],
  )
  await run(`insert into board_members select $1, unnest($2::uuid[]), 'member'`, [board_id, people])
  const [emptyId, fullId] = await run(
    `insert into columns select $1, gen_random_uuid(), 'Column', '', false, n from generate_series(1, $2) n returning id`,
    [board_id, size.columns],
  )
  const cards = await run(
    `insert into cards (board_id, id, column_id, title, rank, number, created_at, updated_at)
    select $1, gen_random_uuid(), $2, 'Card', n, n, now(), now() from generate_series(1, $3) n
    returning id`,
    [board_id, fullId, size.cards],
  )
  await run('insert into card_assignees select $1, unnest($2::uuid[]), $3', [board_id, cards, people[0]])
  const labels = await run(
    `insert into labels select $1, gen_random_uuid(), 'Label ' || n, '' from generate_series(1, $2) n returning id`,
    [board_id, size.columns],
  )
  await run('insert into card_labels select $1, unnest($2::uuid[]), $3', [board_id, cards, labels[0]])
  const checklists = await run(
    `insert into checklists select $1, gen_random_uuid(), $2, 'List', n from generate_series(1, $3) n returning id`,
    [board_id, cards[0], size.columns],
  )
  const items = await run(
    `insert into checklist_items select $1, gen_random_uuid(), $2, 'Item', false, n from generate_series(1, $3) n returning id`,
    [board_id, checklists[0], size.columns],
  )
  await run('insert into item_assignees select $1, unnest($2::uuid[]), $3', [board_id, items, people[0]])
  const rules = await run(
    `insert into automation_rules (board_id, id, name, trigger_type, action_type, action_user_id, is_enabled)
    select $1, gen_random_uuid(), 'Rule', 'CARD_CREATED', 'ASSIGN_MEMBER', $2, true from generate_series(1, $3) returning id`,
    [board_id, people.at(-1), size.columns],
  )
  const attachments = await run(
    `with files as (insert into file_chunks select $1, gen_random_uuid(), 0, 'x' from generate_series(1, $3) returning file_id)
    insert into attachments (board_id, id, card_id, file_id, name, mime_type, size, content_hash)
    select $1, gen_random_uuid(), $2, file_id, 'note.txt', 'text/plain', 1, 'x' from files returning id`,
    [board_id, cards[0], size.columns],
  )
  const comments = await run(
    `insert into comments (board_id, id, card_id, author_id, body, mention_ids, created_at)
    select $1, gen_random_uuid(), $2, $3, 'Comment', $4::uuid[], now() from generate_series(1, $5) returning id`,
    [board_id, cards[0], owner.id, people, size.cards],
  )
  const inboxItems = await run(
    `insert into inbox_items (user_id, id, board_id, subject_id, card_id, reason, count, changed_at)
    select $1, gen_random_uuid(), $2, card_id, card_id, 'assigned', 1, now() from unnest($3::uuid[]) card_id returning id`,
    [owner.id, board_id, cards],
  )
  const invitations = await run(
    `insert into invitations (id, token_hash, board_id, role, invited_by, expires_at)
    select gen_random_uuid(), gen_random_uuid()::text, $1, 'member', $2, now() + interval '1 day' from generate_series(1, $3) returning id`,
    [board_id, owner.id, size.columns],
  )
  const { id: webhook_id } = await owner.api.call('createWebhook', {
    params: { board_id },
    body: { name: 'CI', url: receiver.url },
  })
  await run(
    `insert into webhook_deliveries (board_id, webhook_id, id, type, attempt, is_accepted)
    select $1, $2, gen_random_uuid(), 'card.created', 1, true from generate_series(1, $3) returning id`,
    [board_id, webhook_id, size.cards],
  )
  await run(
    `insert into stored_responses select $1, 'old-' || n, $2, '', 200, null, null, now() - interval '2 days'
    from generate_series(1, $3) n`,
    [owner.id, board_id, size.oldResponses],
  )
  return {
    api: new Client(counted.baseUrl, owner.api.token),
    board: { board_id },
    emptyColumn: { column_id: emptyId },
    fullColumn: { column_id: fullId },
    cards,
    card: { card_id: cards[0] },
    label: { label_id: labels[0] },
    newLabel: { label_id: labels[1] },
    checklist: { checklist_id: checklists[0] },
    item: { item_id: items[0] },
    rule: { rule_id: rules[0] },
    inboxItem: { inbox_item_id: inboxItems.at(-1) as string },
    attachment: { attachment_id: attachments[0] },
    comment: { comment_id: comments[0] },
    invitation: { invitation_id: invitations[0] },
    webhook: { webhook_id },
    receiver: receiver.url,
    people: people as World['people'],
    newcomer,
  }
}

/** Leaves no room between any two items of any list of the board. */
async function pack({ board: { board_id } }: World) {
  for (const [table, parent] of [
    ['columns', 'board_id'],
    ['cards', 'column_id'],
    ['checklists', 'card_id'],
    ['checklist_items', 'checklist_id'],
  ])
    await service.sql.query(
      `update ${table} item set rank = packed.nth
      from (select id, row_number() over (partition by ${parent} order by rank) as nth from ${table} where board_id = $1) packed
      where item.id = packed.id`,
      [board_id],
    )
}

const NO_ROOM = 'where there is no room'
/** Every operation on boards. Deletes come last. */
const steps: [name: OperationName, how: string, act: (world: World) => Promise<unknown>][] = [
  ['createBoard', '', (w) => w.api.call('createBoard', { body: { title: 'New' } })],
  ['listInbox', '', (w) => w.api.call('listInbox', {})],
  ['getInboxSummary', '', (w) => w.api.call('getInboxSummary', {})],
  ['updateInboxItem', '', (w) => w.api.call('updateInboxItem', { params: w.inboxItem, body: { is_read: true } })],
  ['readInbox', '', (w) => w.api.call('readInbox', { body: { until: '2999-01-01T00:00:00.000Z' } })],
  ['listBoards', '', (w) => w.api.call('listBoards', {})],
  ['getBoard', '', (w) => w.api.call('getBoard', { params: w.board })],
  ['getBoardUsage', '', (w) => w.api.call('getBoardUsage', { params: w.board })],
  ['updateBoard', '', (w) => w.api.call('updateBoard', { params: w.board, body: { title: 'Next' } })],
  ['listMembers', '', (w) => w.api.call('listMembers', { params: w.board })],
  ['inviteMember', '', (w) => w.api.call('inviteMember', { params: w.board, body: { user_id: w.newcomer } })],
  ['updateMember', '', (w) => w.api.call('updateMember', { params: newcomer(w), body: { role: 'owner' } })],
  ['createInvitation', '', (w) => w.api.call('createInvitation', { params: w.board, body: {} })],
  ['listInvitations', '', (w) => w.api.call('listInvitations', { params: w.board })],
  ['revokeInvitation', '', (w) => w.api.call('revokeInvitation', { params: { ...w.board, ...w.invitation } })],
  ['createWebhook', '', (w) => w.api.call('createWebhook', { params: w.board, body: newWebhook(w) })],
  ['listWebhooks', '', (w) => w.api.call('listWebhooks', { params: w.board })],
  ['getWebhook', '', (w) => w.api.call('getWebhook', { params: webhook(w) })],
  ['updateWebhook', '', (w) => w.api.call('updateWebhook', { params: webhook(w), body: { url: w.receiver } })],
  ['resumeWebhook', '', (w) => w.api.call('resumeWebhook', { params: webhook(w), body: { after: '0' } })],
  ['getWebhookSecret', '', (w) => w.api.call('getWebhookSecret', { params: webhook(w) })],
  ['rotateWebhookSecret', '', (w) => w.api.call('rotateWebhookSecret', { params: webhook(w), body: {} })],
  ['testWebhook', '', (w) => w.api.call('testWebhook', { params: webhook(w) })],
  ['listDeliveries', '', (w) => w.api.call('listDeliveries', { params: webhook(w) })],
  ['deleteWebhook', '', (w) => w.api.call('deleteWebhook', { params: webhook(w) })],
  ['listEvents', '', (w) => w.api.call('listEvents', { params: w.board })],
  ['listCardEvents', '', (w) => w.api.call('listCardEvents', { params: { ...w.board, ...w.card } })],
  ['getPresence', '', (w) => w.api.call('getPresence', { params: w.board })],
  ['createColumn', '', (w) => createColumn(w, {})],
  ['createColumn', NO_ROOM, (w) => createColumn(w, { position: 1 })],
  ['updateColumn', '', (w) => w.api.call('updateColumn', { params: w.fullColumn, body: { title: 'Next' } })],
  ['moveColumn', '', (w) => w.api.call('moveColumn', { params: w.fullColumn, body: { position: 0 } })],
  ['moveColumn', NO_ROOM, (w) => w.api.call('moveColumn', { params: w.fullColumn, body: { position: 1 } })],
  ['getCard', '', (w) => w.api.call('getCard', { params: w.card })],
  ['findCards', '', (w) => w.api.call('findCards', { params: w.board })],
  ['findCards', 'by everything', findByEverything],
  ['createCard', '', (w) => createCard(w, {})],
  ['createCard', NO_ROOM, (w) => createCard(w, { after_id: w.cards[1] })],
  ['createCard', 'with an Idempotency-Key', (w) => createCard(w, {}, { 'idempotency-key': randomUUID() })],
  ['updateCard', '', (w) => w.api.call('updateCard', { params: w.card, body: { title: 'Next' } })],
  ['assignCard', '', (w) => w.api.call('assignCard', { params: w.card, body: { user_ids: w.people } })],
  ['moveCard', '', (w) => w.api.call('moveCard', { params: w.card, body: {} })],
  ['moveCard', NO_ROOM, (w) => w.api.call('moveCard', { params: w.card, body: { position: 1 } })],
  ['moveCard', 'to another column', (w) => w.api.call('moveCard', { params: w.card, body: w.emptyColumn })],
  ['listLabels', '', (w) => w.api.call('listLabels', { params: w.board })],
  ['countLabels', '', (w) => w.api.call('countLabels', { params: w.board })],
  ['createRule', '', (w) => w.api.call('createRule', { params: w.board, body: { ...rule(w), is_enabled: false } })],
  ['listRules', '', (w) => w.api.call('listRules', { params: w.board })],
  ['updateRule', '', (w) => w.api.call('updateRule', { params: w.rule, body: { name: 'Next' } })],
  ['listRuns', '', (w) => w.api.call('listRuns', { params: w.board })],
  ['createLabel', '', (w) => w.api.call('createLabel', { params: w.board, body: { name: 'New' } })],
  ['updateLabel', '', (w) => w.api.call('updateLabel', { params: w.label, body: { name: 'Next' } })],
  ['addCardLabel', '', (w) => w.api.call('addCardLabel', { params: { ...w.card, ...w.newLabel } })],
  ['removeCardLabel', '', (w) => w.api.call('removeCardLabel', { params: { ...w.card, ...w.newLabel } })],
  ['deleteLabel', '', (w) => w.api.call('deleteLabel', { params: w.label })],
  ['createChecklist', '', (w) => w.api.call('createChecklist', { params: w.card, body: { title: 'New' } })],
  ['updateChecklist', '', (w) => w.api.call('updateChecklist', { params: w.checklist, body: { title: 'Next' } })],
  ['moveChecklist', NO_ROOM, (w) => w.api.call('moveChecklist', { params: w.checklist, body: { position: 1 } })],
  ['createItem', '', (w) => w.api.call('createItem', { params: w.checklist, body: { content: 'New' } })],
  ['createComment', '', (w) => w.api.call('createComment', { params: w.card, body: { body: 'New' } })],
  ['listComments', '', (w) => w.api.call('listComments', { params: w.card })],
  ['updateComment', '', (w) => w.api.call('updateComment', { params: w.comment, body: { body: 'Next' } })],
  ['createAttachment', '', (w) => w.api.call('createAttachment', { params: w.card, body: { file: new Blob(['x']) } })],
  ['getAttachment', '', (w) => w.api.call('getAttachment', { params: w.attachment })],
  ['updateItem', '', (w) => w.api.call('updateItem', { params: w.item, body: { is_done: true } })],
  ['moveItem', NO_ROOM, (w) => w.api.call('moveItem', { params: w.item, body: { position: 1 } })],
  ['assignItem', '', (w) => w.api.call('assignItem', { params: w.item, body: { user_ids: w.people } })],
  [
    'removeMember',
    'who is on every card',
    (w) => w.api.call('removeMember', { params: { ...w.board, user_id: w.people[0] } }),
  ],
  ['unassignCard', '', (w) => w.api.call('unassignCard', { params: { ...w.card, user_id: w.people.at(-1) ?? '' } })],
  ['unassignItem', '', (w) => w.api.call('unassignItem', { params: { ...w.item, user_id: w.people.at(-1) ?? '' } })],
  ['deleteComment', '', (w) => w.api.call('deleteComment', { params: w.comment })],
  ['deleteAttachment', '', (w) => w.api.call('deleteAttachment', { params: w.attachment })],
  ['deleteItem', '', (w) => w.api.call('deleteItem', { params: w.item })],
  ['deleteChecklist', '', (w) => w.api.call('deleteChecklist', { params: w.checklist })],
  ['deleteRule', '', (w) => w.api.call('deleteRule', { params: w.rule })],
  ['archiveCard', '', (w) => w.api.call('archiveCard', { params: w.card })],
  ['getRemoved', 'card', (w) => w.api.call('getRemoved', { params: removed(w, w.card.card_id) })],
  ['restoreRemoved', 'card', (w) => restore(w, w.card.card_id, {})],
  ['deleteCard', '', (w) => w.api.call('deleteCard', { params: w.card })],
  [
    'restoreRemoved',
    'card to a given place',
    (w) => restore(w, w.card.card_id, { ...w.fullColumn, after_id: w.cards[1] }),
  ],
  ['archiveColumn', '', (w) => w.api.call('archiveColumn', { params: w.fullColumn })],
  ['listRemoved', '', (w) => w.api.call('listRemoved', { params: w.board })],
  ['listRemoved', 'by everything', findRemoved],
  ['getRemoved', 'column', (w) => w.api.call('getRemoved', { params: removed(w, w.fullColumn.column_id) })],
  ['restoreRemoved', 'column', (w) => restore(w, w.fullColumn.column_id, {})],
  ['deleteColumn', '', (w) => w.api.call('deleteColumn', { params: w.fullColumn })],
  ['restoreRemoved', 'column to a given place', (w) => restore(w, w.fullColumn.column_id, { position: 1 })],
  ['deleteColumn', 'again', (w) => w.api.call('deleteColumn', { params: w.fullColumn })],
  ['purgeRemoved', '', (w) => w.api.call('purgeRemoved', { params: removed(w, w.fullColumn.column_id) })],
  ['archiveBoard', '', (w) => w.api.call('archiveBoard', { params: w.board })],
  ['restoreBoard', '', (w) => w.api.call('restoreBoard', { params: w.board })],
  ['deleteBoard', '', (w) => w.api.call('deleteBoard', { params: w.board })],
]
const rule = ({ people }: Pick<World, 'people'>) =>
  ({ name: 'Rule', trigger_type: 'CARD_CREATED', action_type: 'ASSIGN_MEMBER', action_user_id: people[0] }) as const
function findByEverything({ api, board, fullColumn, label, people }: World) {
  const query = { search: 'card', column: fullColumn.column_id, label: label.label_id, assignee: people[0] }
  return api.call('findCards', { params: board, query })
}
const newWebhook = ({ receiver: url }: World) => ({ name: 'CI', url })
const webhook = ({ board, webhook: id }: World) => ({ ...board, ...id })
const removed = ({ board }: World, removed_id: string) => ({ ...board, removed_id })
const restore = (world: World, id: string, body: { column_id?: string; position?: number; after_id?: string }) =>
  world.api.call('restoreRemoved', { params: removed(world, id), body })
function findRemoved({ api, board, fullColumn }: World) {
  const query = { as: 'archived', kind: 'card', search: 'card', column_id: fullColumn.column_id } as const
  return api.call('listRemoved', { params: board, query })
}
const newcomer = ({ board, newcomer: user_id }: World) => ({ ...board, user_id })
const createColumn = ({ api, board }: World, place: { position?: number }) =>
  api.call('createColumn', { params: board, body: { title: 'New', ...place } })
const createCard = ({ api, board, fullColumn }: World, place: { after_id?: string }, headers = {}) =>
  api.call('createCard', { params: { ...board, ...fullColumn }, body: { title: 'New', ...place }, headers })

test('[WRITE-8] no operation on a board needs more statements or round trips when there is more data', async () => {
  const worlds = { small: await makeWorld(SMALL), large: await makeWorld(LARGE) }
  const rows: { operation: string; small: Traffic; large: Traffic }[] = []
  for (const [name, how, act] of steps) {
    await Promise.all(Object.values(worlds).map(pack))
    const small = await proxy.during(() => act(worlds.small))
    const large = await proxy.during(() => act(worlds.large))
    rows.push({ operation: `${name} ${how}`.trim(), small, large })
  }

  console.log(['statements, round trips', ...rows.map(asLine)].join('\n'))
  for (const { operation, small, large } of rows) expect(large, operation).toEqual(small)
  for (const { operation, small } of rows) expect(small.statements, operation).toBeGreaterThan(0)
  // Making room costs something: the steps that say so did meet a list without any.
  const cost = new Map(rows.map(({ operation, large }) => [operation, large.statements]))
  for (const name of ['createColumn', 'moveColumn', 'createCard', 'moveCard'])
    expect(cost.get(`${name} ${NO_ROOM}`), name).toBeGreaterThan(cost.get(name) ?? 0)
})

const asLine = ({ operation, large }: { operation: string; large: Traffic }) =>
  `${String(large.statements).padStart(10)}, ${String(large.roundTrips).padStart(11)}  ${operation}`

test('[READ-3] an unchanged board needs one statement, for 200 and for 304', async () => {
  const { api, board: params } = await makeWorld(SMALL)
  const { headers } = await api.send('getBoard', { params })
  const known = { params, headers: { 'if-none-match': headers.get('etag') ?? '' } }
  for (const inputs of [{ params }, known])
    expect(await proxy.during(() => api.send('getBoard', inputs))).toEqual({ statements: 1, roundTrips: 1 })
})

test('[WRITE-8] every operation on boards is counted', () => {
  const others = {
    ...{ ...authOperations, ...linkOperations, ...userOperations, ...healthOperations },
    ...{ ...administrationOperations, ...adminInvitationOperations },
    ...tokenOperations,
  }
  const expected = Object.keys(operations).filter((name) => !(name in others))
  expect([...new Set(steps.map(([name]) => name))].sort()).toEqual(expected.sort())
})

test('[WRITE-8] every statement and round trip is counted', async () => {
  const database = new Database({ url: proxy.url, size: 2, onError: () => {} })
  const client = await database.pool.connect()
  const flights = new PipelinedConnection(client)
  const ask = () => flights.run({ name: 'one', text: 'select 1', values: [] })

  const oneByOne = await proxy.during(async () => {
    await ask()
    await ask()
    await client.query('select 1')
  })
  const together = await proxy.during(() => Promise.all([ask(), ask(), ask()]))
  const mixed = await proxy.during(async () => {
    await Promise.all([ask(), flights.run({ name: 'another', text: 'select $1::int', values: [1] })])
    await ask()
  })
  client.release()
  await database.close()

  expect(oneByOne).toEqual({ statements: 3, roundTrips: 3 })
  expect(together).toEqual({ statements: 3, roundTrips: 1 })
  expect(mixed).toEqual({ statements: 3, roundTrips: 2 })
})
