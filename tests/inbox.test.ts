import { randomUUID } from 'node:crypto'
import type { InboxItem } from '@lockstep/contract/inbox'
import { newAccount } from '@lockstep/testing/accounts'
import { Client } from '@lockstep/testing/client'
import { endProcesses, eventually, type ServiceProcess, startServiceProcess } from '@lockstep/testing/processes'
import { type Random, seeded } from '@lockstep/testing/random'
import { JWT_SECRET } from '@lockstep/testing/secrets'
import { REDIS } from '@lockstep/testing/template-database'
import { createTestDatabase, type TestDatabase } from '@lockstep/testing/test-database'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { InboxModel, type LoggedChange, type ModelItem } from './inbox/inbox-model.ts'

/** With `INBOX_CHANGES=1000`, it takes a minute. */
const CHANGES = Number(process.env['INBOX_CHANGES'] ?? 400)
/** So many changes are sent at once. Between two rounds, people read their inboxes. */
const AT_ONCE = 10
const PEOPLE = 5
const BOARDS = 4
const CARDS = 2

interface Person {
  id: string
  username: string
  token: string
}
interface Board {
  id: string
  owner: Person
  column_ids: [string, string]
  /** A rule that assigns the user it names to cards that are moved to the second column. */
  rule_id: string
  card_ids: string[]
  checklists: { id: string; card_id: string }[]
  items: { id: string; card_id: string }[]
  /** Comments that were sent, with their author. */
  comments: { id: string; author: Person }[]
}

let database: TestDatabase
/** Two processes on one database. */
const instances: ServiceProcess[] = []
const people: Person[] = []
const boards: Board[] = []
/** What was marked, with the last change of each board that was committed before. */
const marks: { user_id: string; subject_id: string; isRead: boolean; heads: Map<string, number> }[] = []
const statuses = new Map<number, number>()
let lostResponses = 0

const settings = () => ({ DATABASE_URL: database.url, REDIS_URL: REDIS, JWT_SECRET })
const clientOf = ({ token }: Person, instance = 0) => new Client((instances[instance] as ServiceProcess).baseUrl, token)

beforeAll(async () => {
  database = await createTestDatabase()
  instances.push(...(await Promise.all([startServiceProcess(settings()), startServiceProcess(settings())])))
  for (let i = 0; i < PEOPLE; i++) people.push(await newAccount((instances[0] as ServiceProcess).baseUrl))
  for (let i = 0; i < BOARDS; i++) boards.push(await newBoard(people[i] as Person))
  await changeAtRandom(seeded(1))
}, 600_000)
afterAll(async () => {
  await endProcesses()
  await database?.drop()
})

/** A board with some cards. All but one are members. */
async function newBoard(owner: Person): Promise<Board> {
  const api = clientOf(owner)
  const { id: board_id } = await api.call('createBoard', { body: { title: 'Plan' } })
  const others = people.filter((person) => person !== owner).slice(1)
  for (const { id } of others) await api.call('inviteMember', { params: { board_id }, body: { user_id: id } })
  const { id: column_id } = await api.call('createColumn', { params: { board_id }, body: { title: 'To do' } })
  const { id: done_id } = await api.call('createColumn', { params: { board_id }, body: { title: 'Done' } })
  const { id: rule_id } = await api.call('createRule', {
    params: { board_id },
    body: { name: 'Rule', trigger_type: 'CARD_MOVED', trigger_column_id: done_id, ...assigning(owner) },
  })
  const board: Board = {
    ...{ id: board_id, owner, column_ids: [column_id, done_id], rule_id },
    ...{ card_ids: [], checklists: [], items: [], comments: [] },
  }
  for (let i = 0; i < CARDS; i++) {
    const { id } = await api.call('createCard', { params: { board_id, column_id }, body: { title: `${i}` } })
    board.card_ids.push(id)
    await addItem(board, api, id)
  }
  return board
}
const assigning = ({ id }: Person) => ({ action_type: 'ASSIGN_MEMBER', action_user_id: id }) as const

/** Rounds of changes, on both instances at once. In the middle, one of them is killed. */
async function changeAtRandom(random: Random) {
  const rounds = Math.ceil(CHANGES / AT_ONCE)
  for (let round = 0; round < rounds; round++) {
    const changes = Array.from({ length: AT_ONCE }, () => attempt(random))
    if (round === Math.floor(rounds / 2)) await restart(1)
    await Promise.all(changes)
    await eventually('all changes are committed or rolled back', isQuiet)
    await Promise.all(people.map((person) => markAtRandom(person, random)))
  }
}

/** Kills an instance in the middle of its changes, and starts another one. */
async function restart(instance: number) {
  await instances[instance]?.end('SIGKILL')
  instances[instance] = await startServiceProcess(settings())
}

async function isQuiet() {
  const { rows } = await database.sql.query(
    `select from pg_stat_activity where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`,
  )
  return rows.length === 0
}

/** Sends a change. Whether it was made if its response is lost, is in the log. */
async function attempt(random: Random) {
  try {
    const status = await change(random)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  } catch (error) {
    // What `fetch` throws when the connection is lost.
    if (!(error instanceof TypeError)) throw error
    lostResponses++
  }
}

async function change(random: Random): Promise<number> {
  const board = random.pick(boards)
  // Mostly the owner, who is always a member.
  const person = random.below(2) === 0 ? board.owner : random.pick(people)
  const other = random.pick(people)
  const api = clientOf(person, random.below(instances.length))
  const byOwner = clientOf(board.owner, random.below(instances.length))
  const params = { board_id: board.id }
  const card_id = random.pick(board.card_ids)
  const text = () => {
    const mentioned = random.shuffled([...people, other]).slice(0, random.below(3))
    return ['Look', ...mentioned.map(({ id, username }) => `@[${username}](user:${id})`)].join(' ')
  }
  const known = board.comments.length > 0 ? random.pick(board.comments) : undefined
  const author = known && clientOf(known.author, random.below(instances.length))
  // Older ones are mostly deleted.
  const item = random.pick(board.items.slice(-4))
  const item_id = item.id
  const user_ids = random.below(2) === 0 ? [person.id] : [...new Set([other.id, person.id])]
  switch (random.below(30)) {
    case 0:
    case 1:
    case 2: {
      const id = randomUUID()
      board.comments.push({ id, author: person })
      return (await api.send('createComment', { params: { card_id }, body: { id, body: text() } })).status
    }
    case 3:
      if (!author) return 0
      return (await author.send('updateComment', { params: { comment_id: known.id }, body: { body: text() } })).status
    case 4:
      return author ? (await author.send('deleteComment', { params: { comment_id: known.id } })).status : 0
    case 5:
    case 6:
    case 7:
      return (await api.send('assignCard', { params: { card_id }, body: { user_ids } })).status
    case 8:
    case 9:
    case 10:
      if (random.below(2) === 0)
        await byOwner.send('assignCard', { params: { card_id }, body: { user_ids: [other.id] } })
      return (await api.send('unassignCard', { params: { card_id, user_id: other.id } })).status
    case 11: {
      if (other === board.owner) return 0
      const invited = await byOwner.send('inviteMember', { params, body: { user_id: other.id } })
      if (invited.status === 201 || random.below(2) === 0) return invited.status
      return (await byOwner.send('removeMember', { params: { ...params, user_id: other.id } })).status
    }
    case 12: {
      const removed = await api.send(random.below(2) === 0 ? 'archiveCard' : 'deleteCard', { params: { card_id } })
      return removed.status
    }
    case 13:
    case 26:
    case 27:
      return (await api.send('restoreRemoved', { params: { ...params, removed_id: card_id }, body: {} })).status
    case 14:
    case 15:
    case 16:
      return (await api.send('assignItem', { params: { item_id }, body: { user_ids } })).status
    case 17:
    case 18:
      return (await api.send('unassignItem', { params: { item_id, user_id: other.id } })).status
    case 19:
    case 25:
      return addItem(board, api, card_id)
    case 20: {
      const { id: checklist_id } = random.pick(board.checklists.slice(-4))
      if (random.below(4) === 0) return (await api.send('deleteChecklist', { params: { checklist_id } })).status
      return (await api.send('deleteItem', { params: { item_id } })).status
    }
    case 21:
    case 22: {
      const column_id = random.pick(board.column_ids)
      return (await api.send('moveCard', { params: { card_id }, body: { column_id } })).status
    }
    case 23: {
      const body = { ...assigning(other), is_enabled: true }
      return (await byOwner.send('updateRule', { params: { rule_id: board.rule_id }, body })).status
    }
    case 24: {
      // A new card with the id of one that is purged or in the trash.
      await api.send('deleteCard', { params: { card_id } })
      if (random.below(2) === 0) await byOwner.send('purgeRemoved', { params: { ...params, removed_id: card_id } })
      const body = { id: card_id, title: 'Again' }
      await api.send('createCard', { params: { ...params, column_id: board.column_ids[0] }, body })
      return addItem(board, api, card_id)
    }
    case 28: {
      // Still assigned to the card: the notification stays.
      const self = clientOf(other, random.below(instances.length))
      await self.send('assignItem', { params: { item_id }, body: { user_ids: [other.id] } })
      await byOwner.send('assignCard', { params: { card_id: item.card_id }, body: { user_ids: [other.id] } })
      return (await byOwner.send('unassignItem', { params: { item_id, user_id: other.id } })).status
    }
    default: {
      await byOwner.send('archiveBoard', { params })
      return (await byOwner.send('restoreBoard', { params })).status
    }
  }
}

/** Adds a checklist with an item to a card. */
async function addItem({ checklists, items }: Board, api: Client, card_id: string): Promise<number> {
  const [list, item] = [
    { id: randomUUID(), card_id },
    { id: randomUUID(), card_id },
  ]
  checklists.push(list)
  items.push(item)
  await api.send('createChecklist', { params: { card_id }, body: { id: list.id, title: 'Steps' } })
  const params = { checklist_id: list.id }
  return (await api.send('createItem', { params, body: { id: item.id, content: 'First' } })).status
}

/** Marks one item, or all. Nothing else happens meanwhile, so it is known what had happened before. */
async function markAtRandom(person: Person, random: Random) {
  const api = clientOf(person, random.below(instances.length))
  const choice = random.below(8)
  const items = await readInbox(person)
  const newest = items[0]
  if (choice > 2 || !newest) return
  const heads = await readHeads()
  const note = (item: InboxItem, isRead: boolean) =>
    marks.push({ user_id: person.id, subject_id: item.card?.id ?? item.board.id, isRead, heads })
  if (choice === 0) {
    await api.call('readInbox', { body: { until: newest.changed_at } })
    // Items that are hidden now are read too.
    const { rows } = await database.sql.query<{ subject_id: string }>(
      'select subject_id from inbox_items where user_id = $1 and changed_at <= $2',
      [person.id, newest.changed_at],
    )
    for (const { subject_id } of rows) marks.push({ user_id: person.id, subject_id, isRead: true, heads })
    return
  }
  const item = random.pick(items)
  const isRead = choice === 1
  const params = { inbox_item_id: item.id }
  const marked = await api.call('updateInboxItem', { params, body: { is_read: isRead, seen: item.changed_at } })
  expect(marked.read_at !== null).toBe(isRead)
  note(item, isRead)
}

async function readHeads(): Promise<Map<string, number>> {
  const { rows } = await database.sql.query<{ board_id: string; seq: number }>(
    'select board_id, max(seq)::int as seq from board_events group by board_id',
  )
  return new Map(rows.map(({ board_id, seq }) => [board_id, seq]))
}

async function readInbox(person: Person): Promise<InboxItem[]> {
  const items: InboxItem[] = []
  for (let path: string | undefined = '/me/inbox?limit=4'; path; ) {
    const { body, headers } = await clientOf(person).request('GET', path)
    items.push(...(body as InboxItem[]))
    path = /<(.+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
  }
  return items
}

async function readLog(board_id: string): Promise<LoggedChange[]> {
  const { rows } = await database.sql.query<{ seq: number; type: string; subject_id: string; at: Date; body: string }>(
    'select seq::int, type, subject_id, created_at as at, body from board_events where board_id = $1 order by seq',
    [board_id],
  )
  return rows.map(({ body, at, ...row }) => ({ ...row, ...JSON.parse(body), at: at.toISOString() }))
}

/** Replays the log of a board, and the marks where they were made. */
async function replay({ id, owner }: Board): Promise<InboxModel> {
  const model = new InboxModel(id, owner.id)
  let done = 0
  const log = await readLog(id)
  const follow = (head: number) => {
    for (; done < log.length && (log[done] as LoggedChange).seq <= head; done++) model.apply(log[done] as LoggedChange)
  }
  for (const { user_id, subject_id, isRead, heads } of marks) {
    follow(heads.get(id) ?? 0)
    model.mark(user_id, subject_id, isRead)
  }
  follow(Number.POSITIVE_INFINITY)
  return model
}

const comparable = ({ reason, count, actor, board, card, comment, changed_at, read_at }: InboxItem): ModelItem => ({
  reason,
  count,
  actor_id: actor?.id ?? null,
  board_id: board.id,
  card_id: card?.id ?? null,
  comment_id: comment?.id ?? null,
  changed_at,
  isRead: read_at !== null,
})
const ordered = (items: readonly ModelItem[]) =>
  items.toSorted((one, other) => (one.card_id ?? one.board_id).localeCompare(other.card_id ?? other.board_id))

describe('random changes on two instances, of which one is killed', () => {
  let models: InboxModel[]
  beforeAll(async () => {
    models = await Promise.all(boards.map(replay))
  })

  test('[INBOX-1] the changes were of all kinds, and some responses were lost', () => {
    const names = ['notified', 'withdrawn', 'gathered', 'left', 'byRule', 'ofItems', 'replaced'] as const
    const counts = names.map((name) => [name, models.reduce((sum, { happened }) => sum + happened[name], 0)] as const)
    console.log({ ...Object.fromEntries(counts), marks: marks.length, lostResponses, statuses })
    for (const [name, count] of counts) expect(count, name).toBeGreaterThan(0)
    expect(marks.length).toBeGreaterThan(0)
    expect([...statuses.keys()].filter((status) => status >= 500)).toEqual([])
    expect(lostResponses).toBeGreaterThan(0)
  })

  test('[INBOX-1] [INBOX-2] [INBOX-3] [INBOX-5] [INBOX-6] [INBOX-7] [INBOX-8] every inbox equals a model of the log, each item once', async () => {
    for (const person of people) {
      const items = await readInbox(person)
      const expected = models.flatMap((model) => model.inboxOf(person.id))
      expect(ordered(items.map(comparable))).toEqual(ordered(expected))
      const times = items.map(({ changed_at, id }) => `${changed_at} ${id}`)
      expect(times).toEqual(times.toSorted().toReversed())
      expect(new Set(items.map(({ card, board }) => card?.id ?? board.id)).size).toBe(items.length)
      const unread = expected.filter(({ isRead }) => !isRead).length
      expect(await clientOf(person).call('getInboxSummary', {})).toMatchObject({ unread })
    }
  })

  test('[INBOX-4] who was removed from a board has nothing of it', async () => {
    const { rows } = await database.sql.query(
      `select from inbox_items item where not exists (
        select from board_members member where member.board_id = item.board_id and member.user_id = item.user_id)`,
    )
    expect(rows).toEqual([])
    for (const [i, { id }] of boards.entries())
      for (const person of people.filter((each) => !models[i]?.isMember(each.id)))
        expect((await readInbox(person)).filter(({ board }) => board.id === id)).toEqual([])
  })
})
