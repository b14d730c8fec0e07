import type { EventKind } from '@lockstep/contract'
import { sql } from 'kysely'
import { cardJson } from '../cards/card-queries.ts'
import { columnFields } from '../columns/column-queries.ts'
import type { BoardVersion } from '../core/board-version.ts'
import { type Db, statement } from '../database/database.ts'
import { boardJson, boardVersion } from './board-queries.ts'

/** A card: its id, column, rank, and the size of its text. */
export type CardEntry = [id: string, column_id: string, rank: number, bytes: number]

/** A full board, or what changed of it, as PostgreSQL wrote it. */
export interface FullBoardPieces extends BoardVersion {
  /** The board without its columns. */
  board: string
  /** All columns in their order, without their cards. */
  columns: [id: string, text: string][]
  /** The cards that are no longer as they were; undefined for all cards. */
  changed: string[] | undefined
  cards: CardEntry[]
  /** The texts of these cards one after the other. */
  texts: string
}
/** The same as a row: lists are JSON. */
interface PiecesRow extends BoardVersion {
  board: string
  columns: string
  changed?: string
  cards: string
  texts: string
}
const piecesOf = ({ columns, changed, cards, ...row }: PiecesRow): FullBoardPieces => ({
  ...row,
  columns: JSON.parse(columns),
  changed: changed === undefined ? undefined : JSON.parse(changed),
  cards: JSON.parse(cards),
})

const pieces = sql`${boardVersion}, ${boardJson}::text as board,
  (select coalesce(json_agg(json_build_array("column".id, (select row_to_json(fields) from (select ${columnFields}) fields)::text)
    order by "column".rank, "column".id), '[]') from columns "column" where "column".board_id = board.id)::text as columns`
/** Lists the rows `card`, with the text of each built once. */
const listed = sql`coalesce(json_agg(json_build_array(card.id, card.column_id, card.rank, octet_length(card.json))), '[]')::text as cards,
  coalesce(string_agg(card.json, ''), '') as texts`
const listedCard = sql`card.id, card.column_id, card.rank, ${cardJson}::text as json`

const readAll = statement(
  'read_full_board',
  (args: { id: string }) => sql<PiecesRow>`
    select ${pieces}, found.cards, found.texts
    from boards board join board_stream stream on stream.board_id = board.id,
      lateral (select ${listed} from (
        select ${listedCard} from cards card where card.board_id = board.id and card.column_id is not null offset 0) card) found
    where board.id = ${args.id}`,
)
/** The board and its version in one snapshot. Undefined when the board does not exist. */
export async function readFullBoard(db: Db, id: string): Promise<FullBoardPieces | undefined> {
  const [row] = await db.run(readAll, { id })
  return row && piecesOf(row)
}

/** After more events than this, the whole board is read. */
const MAX_EVENTS = 500

/**
 * How to find the cards that an event changes, if it does not name a card in `card_id`: it is about the card, names it, is about an
 * item of its checklist, or creates its column. `any` means any cards of the board.
 */
type ChangedCards = 'card' | 'named' | 'checklist' | 'column' | 'any' | 'none'
/** The cards of a restored column have no events of their own, and neither have the cards of a label. */
const CHANGED_CARDS: Record<EventKind, ChangedCards> = {
  'board.updated': 'none',
  'board.deleted': 'none',
  'board.member_added': 'none',
  'board.member_removed': 'none',
  'column.created': 'column',
  'column.updated': 'none',
  'column.deleted': 'none',
  'column.moved': 'none',
  'card.created': 'card',
  'card.updated': 'card',
  'card.deleted': 'card',
  'card.moved': 'card',
  'card.assigned': 'card',
  'card.unassigned': 'card',
  'card.labeled': 'card',
  'card.unlabeled': 'card',
  'label.created': 'none',
  'label.updated': 'any',
  'label.deleted': 'any',
  'checklist.created': 'named',
  'checklist.updated': 'named',
  'checklist.deleted': 'named',
  'checklist.moved': 'named',
  'checklist_item.created': 'checklist',
  'checklist_item.updated': 'checklist',
  'checklist_item.deleted': 'checklist',
  'checklist_item.moved': 'checklist',
  'checklist_item.assigned': 'checklist',
  'checklist_item.unassigned': 'checklist',
  'attachment.created': 'named',
  'attachment.deleted': 'named',
  'comment.created': 'named',
  'comment.updated': 'named',
  'comment.deleted': 'named',
}
const changing = (...found: ChangedCards[]) => {
  const kinds = Object.entries(CHANGED_CARDS).filter(([, cards]) => found.includes(cards))
  return sql`(${sql.join(kinds.map(([kind]) => sql.lit(kind)))})`
}

/** An item that was moved changed the cards of two checklists; if one was deleted since, that is an event of its card. */
const changedCards = sql`
  select card_id as id from log where card_id is not null
  union select (data ->> 'id')::uuid from log where type in ${changing('card')}
  union select (data ->> 'card_id')::uuid from log where type in ${changing('named')}
  union select checklist.card_id from log join checklists checklist
    on checklist.board_id = log.board_id and checklist.id in (log.from_id, (log.data ->> 'checklist_id')::uuid)
    where log.type in ${changing('checklist')}
  union select card.id from log join cards card on card.board_id = log.board_id and card.column_id = (log.data ->> 'id')::uuid
    where log.type in ${changing('column')}`

const readChanges = statement(
  'read_full_board_changes',
  (args: { id: string; epoch: number; seq: number }) => sql<PiecesRow>`
    with log as materialized (
      select board_id, type, card_id, from_id, case
        when type in ${changing('column')} or card_id is null and type in ${changing('card', 'named', 'checklist')}
        then body::json -> 'data' end as data
      from board_events where board_id = ${args.id} and seq > ${args.seq} order by seq limit ${sql.lit(MAX_EVENTS)}
    ), changed as materialized (select id from (${changedCards}) found where id is not null)
    select ${pieces}, (select coalesce(json_agg(changed.id), '[]') from changed)::text as changed, found.cards, found.texts
    from boards board join board_stream stream on stream.board_id = board.id,
      lateral (select ${listed} from changed, lateral (
        select ${listedCard} from cards card
        where card.board_id = board.id and card.id = changed.id and card.column_id is not null offset 0) card) found
    where board.id = ${args.id} and stream.epoch = ${args.epoch} and stream.last_seq = ${args.seq} + (select count(*) from log)
      and not exists (select from log where type not in ${changing('card', 'named', 'checklist', 'column', 'none')})`,
)
/**
 * What changed since a position, and the version, in one snapshot. Undefined when the log does not tell: another epoch, deleted
 * events, too many of them, one that can change any cards, or one of a kind that only another version of the service knows.
 */
export async function readFullBoardChanges(db: Db, id: string, position: string): Promise<FullBoardPieces | undefined> {
  const [epoch = 0, seq = 0] = position.split('.').map(Number)
  const [row] = await db.run(readChanges, { id, epoch, seq })
  return row && piecesOf(row)
}
