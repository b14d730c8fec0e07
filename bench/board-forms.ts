import { sql } from 'kysely'
import type pg from 'pg'
import { readFullBoard } from '../packages/server/src/boards/board-queries.ts'
import { cardJson } from '../packages/server/src/cards/card-queries.ts'
import { type Db, statement } from '../packages/server/src/database/database.ts'

const time = (column: string) => `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
const user = `json_build_object('id', u.id, 'email', u.email, 'username', u.username, 'firstname', u.firstname, 'lastname', u.lastname,
  'is_active', u.is_active, 'is_verified', u.is_verified, 'is_superuser', u.is_superuser)`
const label = `json_build_object('id', l.id, 'board_id', l.board_id, 'name', l.name, 'color', l.color)`

/** A board as one would write it first: objects within objects, each list asked for where it stands. */
export const PLAIN = `select json_build_object('id', b.id, 'title', b.title, 'description', b.description,
  'created_by', b.created_by, 'updated_by', b.updated_by,
  'labels', (select coalesce(json_agg(${label} order by l.created_at, l.id), '[]') from labels l where l.board_id = b.id),
  'members', (select coalesce(json_agg(json_build_object('board_id', m.board_id, 'user_id', m.user_id, 'role', m.role, 'user', ${user})
    order by m.joined_at, m.user_id), '[]') from board_members m join users u on u.id = m.user_id where m.board_id = b.id),
  'columns', (select coalesce(json_agg(json_build_object('id', c.id, 'board_id', c.board_id, 'title', c.title, 'rank', c.rank,
    'color', c.color, 'is_done_column', c.is_done_column,
    'cards', (select coalesce(json_agg(json_build_object('id', k.id, 'column_id', k.column_id, 'title', k.title,
      'description', k.description, 'rank', k.rank,
      'labels', (select coalesce(json_agg(${label} order by x.added_at, x.label_id), '[]') from card_labels x
        join labels l on l.board_id = x.board_id and l.id = x.label_id where x.board_id = k.board_id and x.card_id = k.id),
      'assignees', (select coalesce(json_agg(${user} order by a.assigned_at, a.user_id), '[]') from card_assignees a
        join users u on u.id = a.user_id where a.board_id = k.board_id and a.card_id = k.id),
      'checklists', (select coalesce(json_agg(json_build_object('id', d.id, 'card_id', d.card_id, 'title', d.title, 'rank', d.rank,
        'items', (select coalesce(json_agg(json_build_object('id', i.id, 'checklist_id', i.checklist_id, 'content', i.content,
          'rank', i.rank, 'is_done', i.is_done,
          'assignees', (select coalesce(json_agg(${user} order by a.assigned_at, a.user_id), '[]') from item_assignees a
            join users u on u.id = a.user_id where a.board_id = i.board_id and a.item_id = i.id)) order by i.rank, i.id), '[]')
          from checklist_items i where i.board_id = d.board_id and i.checklist_id = d.id)) order by d.rank, d.id), '[]')
        from checklists d where d.board_id = k.board_id and d.card_id = k.id),
      'attachments', (select coalesce(json_agg(json_build_object('id', f.id, 'card_id', f.card_id, 'name', f.name,
        'mime_type', f.mime_type, 'size', f.size) order by f.created_at, f.id), '[]')
        from attachments f where f.board_id = k.board_id and f.card_id = k.id),
      'created_at', ${time('k.created_at')}, 'updated_at', ${time('k.updated_at')}) order by k.rank, k.id), '[]')
      from cards k where k.board_id = c.board_id and k.column_id = c.id)) order by c.rank, c.id), '[]')
    from columns c where c.board_id = b.id))::text as json from boards b where b.id = BOARD`

const userText = `'{"id":"' || u.id || '","email":' || to_json(u.email) || ',"username":' || to_json(u.username) ||
  ',"firstname":' || coalesce(to_json(u.firstname)::text, 'null') || ',"lastname":' || coalesce(to_json(u.lastname)::text, 'null') ||
  ',"is_active":' || u.is_active || ',"is_verified":' || u.is_verified || ',"is_superuser":' || u.is_superuser || '}'`
const labelText = `'{"id":"' || l.id || '","board_id":"' || l.board_id || '","name":' || to_json(l.name) || ',"color":' || to_json(l.color) || '}'`
const listed = (one: string, order: string, from: string) =>
  `(select coalesce(string_agg(${one}, ',' order by ${order}), '') from ${from})`

/** A board around its columns: what all forms of text have in common. */
const boardText = (
  columns: string,
) => `select '{"id":"' || b.id || '","title":' || to_json(b.title) || ',"description":' ||
  coalesce(to_json(b.description)::text, 'null') || ',"created_by":"' || b.created_by || '","updated_by":"' || b.updated_by || '","labels":[' ||
  ${listed(labelText, 'l.created_at, l.id', 'labels l where l.board_id = b.id')} || '],"members":[' ||
  ${listed(`'{"board_id":"' || m.board_id || '","user_id":"' || m.user_id || '","role":"' || m.role || '","user":' || ${userText} || '}'`, 'm.joined_at, m.user_id', 'board_members m join users u on u.id = m.user_id where m.board_id = b.id')} ||
  '],"columns":[' || ${columns} || ']}' as json from boards b where b.id = BOARD`
const columnText = (cards: string) =>
  listed(
    `'{"id":"' || c.id || '","board_id":"' || c.board_id || '","title":' || to_json(c.title) || ',"rank":' || c.rank || ',"color":' ||
    to_json(c.color) || ',"is_done_column":' || c.is_done_column || ',"cards":[' || ${cards} || ']}'`,
    'c.rank, c.id',
    'columns c where c.board_id = b.id',
  )

/** The same as text that is put together, with quoting only where somebody wrote freely. */
export const CONCATENATED = boardText(
  columnText(
    listed(
      `'{"id":"' || k.id || '","column_id":"' || k.column_id || '","title":' || to_json(k.title) || ',"description":' ||
      coalesce(to_json(k.description)::text, 'null') || ',"rank":' || k.rank || ',"labels":[' ||
      ${listed(labelText, 'x.added_at, x.label_id', 'card_labels x join labels l on l.board_id = x.board_id and l.id = x.label_id where x.board_id = k.board_id and x.card_id = k.id')} || '],"assignees":[' ||
      ${listed(userText, 'a.assigned_at, a.user_id', 'card_assignees a join users u on u.id = a.user_id where a.board_id = k.board_id and a.card_id = k.id')} || '],"checklists":[' ||
      ${listed(
        `'{"id":"' || d.id || '","card_id":"' || d.card_id || '","title":' || to_json(d.title) || ',"rank":' || d.rank || ',"items":[' ||
        ${listed(
          `'{"id":"' || i.id || '","checklist_id":"' || i.checklist_id || '","content":' || to_json(i.content) || ',"rank":' || i.rank ||
          ',"is_done":' || i.is_done || ',"assignees":[' ||
          ${listed(userText, 'a.assigned_at, a.user_id', 'item_assignees a join users u on u.id = a.user_id where a.board_id = i.board_id and a.item_id = i.id')} || ']}'`,
          'i.rank, i.id',
          'checklist_items i where i.board_id = d.board_id and i.checklist_id = d.id',
        )} || ']}'`,
        'd.rank, d.id',
        'checklists d where d.board_id = k.board_id and d.card_id = k.id',
      )} || '],"attachments":[' ||
      ${listed(`'{"id":"' || f.id || '","card_id":"' || f.card_id || '","name":' || to_json(f.name) || ',"mime_type":' || to_json(f.mime_type) || ',"size":' || f.size || '}'`, 'f.created_at, f.id', 'attachments f where f.board_id = k.board_id and f.card_id = k.id')} ||
      '],"created_at":"' || ${time('k.created_at')} || '","updated_at":"' || ${time('k.updated_at')} || '"}'`,
      'k.rank, k.id',
      'cards k where k.board_id = c.board_id and k.column_id = c.id',
    ),
  ),
)

/** The service's form of a card, kept beside the card as a document. */
const card = /^select ([\s\S]*) as json/.exec(
  statement('bench_document', () => sql`select ${cardJson}::text as json`).text,
)?.[1]
export const DOCUMENTS = boardText(
  columnText(
    listed('k.json', 'k.rank, k.card_id', 'bench_documents k where k.board_id = c.board_id and k.column_id = c.id'),
  ),
)
/** What a write pays to keep the document of its card. */
export const UPKEEP = `update bench_documents document set json = ${card}, column_id = card.column_id, rank = card.rank
  from cards card where document.board_id = card.board_id and document.card_id = card.id and card.id = CARD and card.board_id = BOARD`

export async function makeDocuments(pool: pg.Pool) {
  await pool.query(`create table if not exists bench_documents (board_id uuid, card_id uuid, column_id uuid, rank int8, json text,
    primary key (board_id, card_id))`)
  await pool.query('create index if not exists bench_documents_in_order on bench_documents (board_id, column_id, rank)')
}
export async function fillDocuments(pool: pg.Pool, board_id: string) {
  await pool.query(
    `insert into bench_documents select card.board_id, card.id, card.column_id, card.rank, ${card} from cards card where card.board_id = $1`,
    [board_id],
  )
  await pool.query('vacuum analyze bench_documents')
}

type Row = Record<string, string>
/** Eleven plain statements, and the board put together by the process that answers. */
export async function assembleInNode(client: pg.Client, board_id: string): Promise<string> {
  const ask = async (text: string) =>
    (await client.query<Row>({ name: text.slice(0, 60), text, values: [board_id] })).rows
  const person = 'u.id, u.email, u.username, u.firstname, u.lastname, u.is_active, u.is_verified, u.is_superuser'
  const tables = [
    `select id, title, description, created_by, updated_by from boards where id = $1`,
    `select id, board_id, name, color from labels where board_id = $1 order by created_at, id`,
    `select m.role, ${person} from board_members m join users u on u.id = m.user_id where m.board_id = $1 order by m.joined_at, m.user_id`,
    `select id, board_id, title, rank::float8, color, is_done_column from columns where board_id = $1 order by rank, id`,
    `select id, column_id, title, description, rank::float8, ${time('created_at')} as created_at, ${time('updated_at')} as updated_at from cards where board_id = $1 order by rank, id`,
    `select card_id, label_id from card_labels where board_id = $1 order by added_at, label_id`,
    `select a.card_id as parent, ${person} from card_assignees a join users u on u.id = a.user_id where a.board_id = $1 order by a.assigned_at, a.user_id`,
    `select id, card_id, title, rank::float8 from checklists where board_id = $1 order by rank, id`,
    `select id, checklist_id, content, rank::float8, is_done from checklist_items where board_id = $1 order by rank, id`,
    `select a.item_id as parent, ${person} from item_assignees a join users u on u.id = a.user_id where a.board_id = $1 order by a.assigned_at, a.user_id`,
    `select id, card_id, name, mime_type, size::float8 from attachments where board_id = $1 order by created_at, id`,
  ]
  const found = await Promise.all(tables.map(ask))
  const [
    boards = [],
    labels = [],
    members = [],
    columns = [],
    cards = [],
    marks = [],
    assignees = [],
    lists = [],
    items = [],
    doers = [],
    files = [],
  ] = found
  const by = <T>(rows: Row[], key: string, show: (row: Row) => T) => {
    const groups = new Map<string, T[]>()
    for (const row of rows) {
      const group = groups.get(row[key] as string)
      if (group) group.push(show(row))
      else groups.set(row[key] as string, [show(row)])
    }
    return (id: string | undefined) => groups.get(id ?? '') ?? []
  }
  const withoutParent = ({ id, email, username, firstname, lastname, is_active, is_verified, is_superuser }: Row) => ({
    id,
    email,
    username,
    firstname,
    lastname,
    is_active,
    is_verified,
    is_superuser,
  })
  const labelById = new Map(labels.map((each) => [each['id'], each]))
  const doersOf = by(doers, 'parent', withoutParent)
  const itemsOf = by(items, 'checklist_id', (item) => ({ ...item, assignees: doersOf(item['id']) }))
  const listsOf = by(lists, 'card_id', (list) => ({ ...list, items: itemsOf(list['id']) }))
  const marksOf = by(marks, 'card_id', (mark) => labelById.get(mark['label_id'] as string))
  const assigneesOf = by(assignees, 'parent', withoutParent)
  const filesOf = by(files, 'card_id', (file) => file)
  const cardsOf = by(cards, 'column_id', (one) => ({
    ...one,
    labels: marksOf(one['id']),
    assignees: assigneesOf(one['id']),
    checklists: listsOf(one['id']),
    attachments: filesOf(one['id']),
  }))
  return JSON.stringify({
    ...boards[0],
    labels,
    members: members.map(({ role, ...one }) => ({ board_id, user_id: one['id'], role, user: one })),
    columns: columns.map((column) => ({ ...column, cards: cardsOf(column['id']) })),
  })
}

/** The service's own statement, as pgbench can run it. */
export async function ownStatement(): Promise<string> {
  let text = ''
  const db: Db = {
    run: async (asked) => {
      text = asked.text
      return []
    },
  }
  await readFullBoard(db, '')
  return text.replaceAll(/\$\d+/g, 'BOARD')
}
