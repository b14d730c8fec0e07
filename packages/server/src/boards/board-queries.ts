import type { Board, boardOperations, ListedBoard } from '@lockstep/contract/boards'
import { createFields, textFields } from '@lockstep/contract/model'
import type { JsonText } from '@lockstep/contract/operation'
import { sql } from 'kysely'
import { type BoardVersion, profilesOfBoard } from '../core/board-version.ts'
import { type NewFields, patchStatement } from '../core/resource-statements.ts'
import { type Db, type JsonRow, statement, wireTime } from '../database/database.ts'
import { isLater, type Keyset, keysetOf, timeCursor } from '../database/keyset.ts'
import { labelsJson } from '../labels/label-queries.ts'
import { membersJson } from './member-queries.ts'

/** The fields of a board without its columns, of the row `board` of the table `boards`. */
const boardFields = sql`board.id, board.title, board.description, board.created_by, board.updated_by,
  ${labelsJson} as labels, ${membersJson} as members,
  (select ${wireTime(sql`own.archived_at`)} from board_stream own where own.board_id = board.id) as archived_at`
export const boardJson = sql<Board>`(select row_to_json(fields) from (select ${boardFields}) fields)`

type NewBoard = { id: string; user_id: string } & NewFields<typeof boardOperations.createBoard>
const insert = statement('insert_board', (args: NewBoard) => {
  const values = (names: readonly string[]) => sql.join(names.map((name) => sql`${args[name as keyof NewBoard]}`))
  const names = createFields('board')
  return sql`
    with counted as (
      update board_stream set text_bytes = object_bytes(${values(textFields('board'))}) + person_bytes() where board_id = ${args.id}
    )
    insert into boards (id, ${sql.join(names.map((name) => sql.id(name)))}, created_by, updated_by)
    values (${args.id}, ${values(names)}, ${args.user_id}, ${args.user_id})`
})
/** Inserts a board, and counts it with its first member. */
export const insertBoard = async (db: Db, board: NewBoard) => void (await db.run(insert, board))

const read = statement(
  'read_board',
  (args: { id: string }) =>
    sql<JsonRow<Board>>`select ${boardJson}::text as json from boards board where board.id = ${args.id}`,
)
/** Undefined when the board does not exist. */
export const readBoard = async (db: Db, id: string): Promise<JsonText<Board> | undefined> =>
  (await db.run(read, { id }))[0]?.json

export const boardVersion = sql<BoardVersion>`stream.epoch || '.' || stream.last_seq as position, ${profilesOfBoard} as profiles`

const readVersion = statement(
  'read_board_version',
  (args: { id: string }) => sql<BoardVersion>`
    select ${boardVersion} from board_stream stream where stream.board_id = ${args.id}`,
)
/** Undefined when the board never existed. */
export const readBoardVersion = async (db: Db, id: string): Promise<BoardVersion | undefined> =>
  (await db.run(readVersion, { id }))[0]

/** The number of open cards of the row `board`. An index has all that it needs, so no text is read. */
const openCards = sql`(
  select count(*) from columns "column"
  join cards card on card.board_id = "column".board_id and card.column_id = "column".id
  where "column".board_id = board.id and not "column".is_done_column)`
/** The same for the cards of one user. */
const openCardsOf = (user_id: string) => sql`(
  select count(*) from card_assignees assignee
  join cards card on card.board_id = assignee.board_id and card.id = assignee.card_id
  join columns "column" on "column".board_id = card.board_id and "column".id = card.column_id
  where assignee.board_id = board.id and assignee.user_id = ${user_id} and not "column".is_done_column)`
/** The time of the last write; a board without any has `log_at` 0. */
const changedAt = wireTime(sql`greatest(board.created_at, to_timestamp(board.log_at / 1000.0))`)
/** A board in the list of a user, of a row of `boards` with the `log_at` of its stream. */
const listedJson = (user_id: string) => sql<ListedBoard>`(select row_to_json(fields) from (select ${boardFields},
  ${openCards} as open_cards, ${openCardsOf(user_id)} as my_cards, ${changedAt} as changed_at) fields)`

const PAGE_BYTES = 1_048_576
/** How much a card adds to the size of its board, so that one statement counts at most some 250,000 cards. */
const COUNTED_CARD_BYTES = 4
/** The estimated size of a board in a list, without building it. */
const listedBytes = sql`500 + octet_length(coalesce(board.description, ''))
  + ${sql.lit(COUNTED_CARD_BYTES)} * coalesce((select stream.card_count from board_stream stream where stream.board_id = board.id), 0)
  + 500 * (select count(*) from board_members other where other.board_id = board.id)
  + (select coalesce(sum(200 + octet_length(label.name)), 0) from labels label where label.board_id = board.id)`

/** Whether the row `stream` is of a board that the list is about. */
const isListed = (archived: boolean | null) =>
  sql`coalesce((stream.archived_at is not null) = ${archived}::boolean, true)`

interface BoardsPage {
  /** Boards as JSON, separated by commas. */
  json: string
  has_more: boolean
  /** The position of the last board. */
  cursor: string | null
}
const list = statement(
  'list_boards',
  (args: { user_id: string; archived: boolean | null; size: number | null } & Keyset) => sql<BoardsPage>`
    select coalesce(string_agg(${listedJson(args.user_id)}::text, ',' order by board.created_at, board.id), '') as json,
      count(*) < max(board.total) as has_more,
      (array_agg(${timeCursor(sql`board.created_at`, sql`board.id`)} order by board.created_at desc, board.id desc))[1] as cursor
    from (
      select sized.*, count(*) over () as total, row_number() over (order by sized.created_at, sized.id) as nth,
        sum(sized.bytes) over (order by sized.created_at, sized.id) - sized.bytes as bytes_before
      from (
        select board.*, ${listedBytes} as bytes, stream.log_at
        from board_members mine join boards board on board.id = mine.board_id
        join board_stream stream on stream.board_id = board.id
        where mine.user_id = ${args.user_id} and ${isListed(args.archived)}
          and ${isLater(sql`board.created_at`, sql`board.id`, args)}
        order by board.created_at, board.id limit ${args.size}::int8 + 1
      ) sized
    ) board
    where board.bytes_before < ${sql.lit(PAGE_BYTES)} and board.nth <= coalesce(${args.size}::int8, board.nth)`,
)
/** A page of a user's boards, oldest first, limited in number (unless null) and in size. */
export async function listBoards(
  db: Db,
  user: { user_id: string; archived: boolean | null },
  cursor: string | null,
  size: number | null,
): Promise<BoardsPage> {
  const [page] = await db.run(list, { ...user, ...keysetOf(cursor), size })
  return page as BoardsPage
}

const readListed = statement(
  'read_listed_board',
  (args: { user_id: string; archived: boolean | null; board_id: string }) => sql<JsonRow<ListedBoard>>`
    select ${listedJson(args.user_id)}::text as json
    from (
      select board.*, stream.log_at
      from board_members mine join boards board on board.id = mine.board_id
      join board_stream stream on stream.board_id = board.id
      where mine.user_id = ${args.user_id} and mine.board_id = ${args.board_id} and ${isListed(args.archived)}
    ) board`,
)
/** One board as in the list of a user's boards; empty when it is not in the list. */
export const readListedBoard = async (
  db: Db,
  user: { user_id: string; archived: boolean | null },
  board_id: string,
): Promise<string> => (await db.run(readListed, { ...user, board_id }))[0]?.json ?? ''

const update = patchStatement('board', boardJson, { stamp: 'updated_by' })
/** The board after the change, and the growth of its text; undefined when nothing changed. */
export const updateBoard = async (db: Db, id: string, changes: object, user_id: string) =>
  (await db.run(update, { board_id: id, id, changes: JSON.stringify(changes), stamp: user_id }))[0]

const archive = statement(
  'archive_board',
  (args: { id: string; user_id: string; archived_at: string | null }) => sql<{ id: string }>`
    with changed as (
      update board_stream set archived_at = ${args.archived_at}
      where board_id = ${args.id} and (archived_at is null) <> (${args.archived_at}::timestamptz is null) returning board_id
    )
    update boards set updated_by = ${args.user_id} where id in (select board_id from changed) returning id`,
)
/** Archives a board, or makes it usable again (null). False when it is in this state already. */
export const setArchived = async (db: Db, id: string, user_id: string, archived_at: string | null) =>
  (await db.run(archive, { id, user_id, archived_at })).length === 1

const remove = statement(
  'delete_board',
  (args: { id: string }) => sql`
    with counted as (
      update board_stream set text_bytes = 0, card_count = 0, file_bytes = 0 where board_id = ${args.id}
    )
    delete from boards where id = ${args.id}`,
)
const purgeEvents = statement('purge_board_events', (args: { id: string }, query) =>
  query.deleteFrom('board_events').where('board_id', '=', args.id),
)
const purgeResponses = statement('purge_board_responses', (args: { id: string }, query) =>
  query.deleteFrom('stored_responses').where('board_id', '=', args.id),
)
/** Deletes a board with its contents, events and stored responses. Its stream stays, so that the id is never used again. */
export async function deleteBoard(db: Db, id: string) {
  await Promise.all([db.run(remove, { id }), db.run(purgeEvents, { id }), db.run(purgeResponses, { id })])
}
