import { isDeepStrictEqual } from 'node:util'
import type { FullBoard } from '@lockstep/contract/boards'
import { type FoldedEvent, foldBoard } from '@lockstep/testing/fold'
import type pg from 'pg'

/** A board from GET, with its position. */
export interface BoardState {
  seq: number
  board: FullBoard
}
export interface Logged extends FoldedEvent {
  seq: number
}

/** Checks a board after a race: its state before, the log since then, and its state after. */
export function checkBoard(before: BoardState, log: readonly Logged[], after: BoardState): string[] {
  const holes = log
    .filter(({ seq }, i) => seq !== before.seq + i + 1)
    .map(({ seq }) => `the log has a gap before ${seq}`)
  const last = log.at(-1)?.seq ?? before.seq
  if (last !== after.seq) holes.push(`the board is at ${after.seq}, its log ends at ${last}`)
  return [...holes, ...checkFold(before, log, after), ...checkRanks(after.board), ...checkReferences(after.board)]
}

function checkFold({ board }: BoardState, log: readonly Logged[], after: BoardState): string[] {
  try {
    const folded = foldBoard(board, log)
    return isDeepStrictEqual(folded, after.board) ? [] : ['the log does not fold to the board']
  } catch (error) {
    return [`the log cannot be folded: ${(error as Error).message}`]
  }
}

function checkRanks({ columns }: FullBoard): string[] {
  const cards = columns.flatMap((column) => column.cards)
  const lists: { rank: number }[][] = [
    columns,
    ...columns.map((column) => column.cards),
    ...cards.map((card) => card.checklists),
    ...cards.flatMap((card) => card.checklists.map((list) => list.items)),
  ]
  const isUnique = (list: { rank: number }[]) => new Set(list.map(({ rank }) => rank)).size === list.length
  return lists.every(isUnique) ? [] : ['two items of a list have the same rank']
}

function checkReferences({ members, columns, labels }: FullBoard): string[] {
  const cards = columns.flatMap((column) => column.cards)
  const assigned = cards.flatMap((card) => [
    ...card.assignees,
    ...card.checklists.flatMap((list) => list.items.flatMap((item) => item.assignees)),
  ])
  const isMember = ({ id }: { id: string }) => members.some(({ user_id }) => user_id === id)
  const isLabel = ({ id }: { id: string }) => labels.some((label) => label.id === id)
  return [
    ...(members.some(({ role }) => role === 'owner') ? [] : ['the board has no owner']),
    ...(assigned.every(isMember) ? [] : ['a non-member is assigned']),
    ...(cards.every((card) => card.labels.every(isLabel)) ? [] : ['a card has a label of another board']),
  ]
}

/** The log of a board after a position. */
export async function readLog(sql: pg.Pool, board_id: string, after: number): Promise<Logged[]> {
  const { rows } = await sql.query<{ seq: number; message: Omit<Logged, 'seq'> }>(
    'select seq::int, body::json as message from board_events where board_id = $1 and seq > $2 order by seq',
    [board_id, after],
  )
  return rows.map(({ seq, message }) => ({ ...message, seq }))
}

/** Deleted boards must leave one event, and nothing else. */
export async function checkDeleted(sql: pg.Pool, board_ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `select id from unnest($1::uuid[]) id
     where (select array_agg(type) from board_events where board_id = id) is distinct from array['board.deleted']
        or exists (select from boards where boards.id = id.id)
        or exists (select from columns where board_id = id.id) or exists (select from board_members where board_id = id.id)
        or exists (select from cards where board_id = id.id) or exists (select from removals where board_id = id.id)`,
    [board_ids],
  )
  return rows.map(({ id }) => `leftovers of the deleted board ${id}`)
}

/** Boards whose usage counters differ from their contents. */
export const miscounted = `select board_id from board_stream stream join board_usage usage using (board_id)
  where (stream.text_bytes, stream.card_count, stream.file_bytes)
    is distinct from (usage.text_bytes, usage.card_count, usage.file_bytes)`

/** What was archived or deleted is not on its board, and nothing else is off it: queries that must return no rows. */
export const removalInvariants: Record<string, string> = {
  'a removal of a card that is on its board': `select from removals join cards using (board_id, id)
    where card_id is not null and cards.column_id is not null`,
  'a removal of a column that is on its board': `select from removals join columns using (board_id, id) where card_id is null`,
  'a card without a column and without a removal': `select from cards where column_id is null and not exists
    (select from removals where removals.board_id = cards.board_id and card_id = cards.id)`,
}

/** Invariants of the whole database: queries that must return no rows. */
const invariants: Record<string, string> = {
  'a board without an owner': `select from boards where not exists
    (select from board_members where board_id = boards.id and role = 'owner')`,
  'two columns of one rank': 'select from columns group by board_id, rank having count(*) > 1',
  'two cards of one rank': `select from cards where column_id is not null group by column_id, rank having count(*) > 1`,
  'two checklists of one rank': 'select from checklists group by card_id, rank having count(*) > 1',
  'two items of one rank': 'select from checklist_items group by checklist_id, rank having count(*) > 1',
  'a log with a gap': `select from board_events join board_stream using (board_id) group by board_id
    having count(*) <> max(seq) - min(seq) + 1 or max(seq) <> max(last_seq)`,
  'a card whose comments are miscounted': `select from cards where comment_count <>
    (select count(*) from comments where comments.board_id = cards.board_id and comments.card_id = cards.id)`,
  'a board whose counters differ from what it holds': miscounted,
  ...removalInvariants,
}

/** Checks the invariants of the whole database. */
export async function checkDatabase(sql: pg.Pool): Promise<string[]> {
  const found: string[] = []
  for (const [what, query] of Object.entries(invariants)) {
    const { rowCount } = await sql.query(query)
    if (rowCount) found.push(`the database has ${what}, ${rowCount} times`)
  }
  return found
}
