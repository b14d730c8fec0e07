import type pg from 'pg'

/**
 * Seeds users and boards. An id is built from its kind and a number, so that pgbench can compute it too. `versus` imports
 * this file from other commits: keep the names and parameters of its exports.
 */
const kinds = { user: 1, board: 2, column: 3, label: 4, card: 5, checklist: 6, item: 7 }
export type Kind = keyof typeof kinds

const prefixOf = (kind: Kind) => `00000000-0000-4000-800${kinds[kind]}-`
export const idOf = (kind: Kind, nth: number) => `${prefixOf(kind)}${String(nth).padStart(12, '0')}`
/** The id as an SQL expression. `nth` is the SQL expression of the number. */
export const idIn = (kind: Kind, nth: string) => `('${prefixOf(kind)}' || lpad((${nth})::text, 12, '0'))::uuid`

export const USERS = 10
export const COLUMNS = 3
export const LABELS = 10
/** Cards of a board. Requests do not move the first card of a column. */
export const CARDS = 12

/** Numbers of the columns, labels and cards of a board, each counted from 1. */
export const columnOf = (board: number, nth: number) => board * 10 + nth
export const labelOf = (board: number, nth: number) => board * 100 + nth
export const cardOf = (board: number, nth: number) => board * 100_000 + nth
/** The number of a checklist item of a card. */
export const itemOf = (card: number, nth: number) => card * 10 + nth

export async function seedUsers(sql: pg.Pool, from: number, to: number, hashedPassword = '') {
  await sql.query(
    `insert into users (id, email, email_key, username, username_key, hashed_password)
    select ${idIn('user', 'n')}, 'user' || n || '@example.com', 'user' || n || '@example.com', 'user' || n, 'user' || n, $3
    from generate_series($1::int, $2::int) n`,
    [from, to, hashedPassword],
  )
}

/** Inserts boards. Each card has two labels, an assignee and a checklist of three items. */
export async function seedBoards(
  sql: pg.Pool,
  { from, to, cards = CARDS }: { from: number; to: number; cards?: number },
) {
  const range = 'generate_series($1::int, $2::int) b'
  const insert = async (text: string, ...more: number[]) => void (await sql.query(text, [from, to, ...more]))
  const board = idIn('board', 'b')
  const card = idIn('card', 'b * 100000 + k')
  const label = (shift: number) => idIn('label', `b * 100 + 1 + (k + ${shift}) % ${LABELS}`)
  await insert(`insert into boards (id, title, description, created_by, updated_by)
    select ${board}, 'Board ' || b, 'What it is for', ${idIn('user', '1')}, ${idIn('user', '1')} from ${range}`)
  await insert(`insert into board_stream (board_id, last_card_number) select ${board}, $3::int from ${range}`, cards)
  await insert(`insert into board_members (board_id, user_id, role)
    select ${board}, ${idIn('user', 'u')}, case u when 1 then 'owner' else 'member' end
    from ${range}, generate_series(1, ${USERS}) u`)
  await insert(`insert into columns (board_id, id, title, color, is_done_column, rank)
    select ${board}, ${idIn('column', 'b * 10 + c')}, 'Column ' || c, '#3d5a80', c = ${COLUMNS}, c * 1048576
    from ${range}, generate_series(1, ${COLUMNS}) c`)
  await insert(`insert into labels (board_id, id, name, color)
    select ${board}, ${idIn('label', 'b * 100 + l')}, 'Label ' || l, '#6a994e' from ${range}, generate_series(1, ${LABELS}) l`)
  await insert(
    `insert into cards (board_id, id, column_id, title, description, rank, number, created_at, updated_at)
    select ${board}, ${card}, ${idIn('column', `b * 10 + 1 + (k - 1) % ${COLUMNS}`)}, 'Card ' || k,
      'What is to be done, in a sentence or two, or three: ' || repeat(md5(k::text), 4), k::int8 * 1048576, k, now(), now()
    from ${range}, generate_series(1, $3::int) k`,
    cards,
  )
  await insert(
    `insert into card_labels (board_id, card_id, label_id)
    select ${board}, ${card}, unnest(array[${label(0)}, ${label(1)}]) from ${range}, generate_series(1, $3::int) k`,
    cards,
  )
  await insert(
    `insert into card_assignees (board_id, card_id, user_id)
    select ${board}, ${card}, ${idIn('user', `1 + k % ${USERS}`)} from ${range}, generate_series(1, $3::int) k`,
    cards,
  )
  await insert(
    `insert into checklists (board_id, id, card_id, title, rank)
    select ${board}, ${idIn('checklist', 'b * 100000 + k')}, ${card}, 'Steps', 0 from ${range}, generate_series(1, $3::int) k`,
    cards,
  )
  await insert(
    `insert into checklist_items (board_id, id, checklist_id, content, rank)
    select ${board}, ${idIn('item', '(b * 100000 + k)::bigint * 10 + i')}, ${idIn('checklist', 'b * 100000 + k')}, 'Step ' || i, i
    from ${range}, generate_series(1, $3::int) k, generate_series(1, 3) i`,
    cards,
  )
}
