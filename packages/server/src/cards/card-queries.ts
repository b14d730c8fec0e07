import type { Card } from '@lockstep/contract/cards'
import type { JsonText } from '@lockstep/contract/operation'
import { sql } from 'kysely'
import { attachmentsJson } from '../attachments/attachment-queries.ts'
import { checklistJson } from '../checklists/checklist-queries.ts'
import { rankedLists } from '../core/ordering/placement.ts'
import { type Growth, PERSON_BYTES } from '../core/quotas.ts'
import { type Db, statement, type Tx, wireTime } from '../database/database.ts'
import { labelJson } from '../labels/label-queries.ts'
import { userJson } from '../users/user-queries.ts'

/** A card with all that hangs on it, of the table `cards` under the name `card`. */
export const cardJson = sql<Card>`(select row_to_json(shown) from (select
  card.id, card.column_id, card.title, card.description, card.rank,
  (select coalesce(json_agg(${labelJson} order by marked.added_at, marked.label_id), '[]')
    from card_labels marked join labels label on label.board_id = marked.board_id and label.id = marked.label_id
    where marked.board_id = card.board_id and marked.card_id = card.id) as labels,
  (select coalesce(json_agg(${userJson} order by assignee.assigned_at, assignee.user_id), '[]')
    from card_assignees assignee join users person on person.id = assignee.user_id
    where assignee.board_id = card.board_id and assignee.card_id = card.id) as assignees,
  (select coalesce(json_agg(${checklistJson} order by checklist.rank, checklist.id), '[]') from checklists checklist
    where checklist.board_id = card.board_id and checklist.card_id = card.id) as checklists,
  ${attachmentsJson} as attachments,
  ${wireTime(sql`card.created_at`)} as created_at, ${wireTime(sql`card.updated_at`)} as updated_at) shown)`

interface Shown {
  id: string
  json: JsonText<Card>
}
type Key = { board_id: string; id: string }
const asText = (card: Card) => JSON.stringify(card) as JsonText<Card>

export const findCardPlace = rankedLists('cards', 'column_id')

interface NewCard extends Key {
  column_id: string
  title: string
  description: string | null
  rank: number
  at: string
}
const insert = statement('insert_card', (args: NewCard, query) =>
  query.insertInto('cards').values({
    board_id: args.board_id,
    id: args.id,
    column_id: args.column_id,
    title: args.title,
    description: args.description,
    rank: args.rank,
    created_at: args.at,
    updated_at: args.at,
  }),
)
/** Nothing hangs on a new card, so it is known without asking; its fields are in the order in which it will be read. */
export function insertCard(tx: Tx, card: NewCard): JsonText<Card> {
  const { id, column_id, title, description, rank, at } = card
  tx.defer(insert, card)
  const nothing = { labels: [], assignees: [], checklists: [], attachments: [] }
  return asText({ id, column_id, title, description, rank, ...nothing, created_at: at, updated_at: at })
}

const read = statement(
  'read_card',
  (args: Key) => sql<Shown>`
    select card.id, ${cardJson}::text as json from cards card where card.board_id = ${args.board_id} and card.id = ${args.id}`,
)
/** Undefined when the board has no such card. */
export async function readCard(db: Db, key: Key): Promise<JsonText<Card> | undefined> {
  return (await db.run(read, key))[0]?.json
}

interface Standing {
  column_id: string
  is_assigned: boolean
}
const standing = statement(
  'read_card_standing',
  (args: Key & { user_id: string | null }) => sql<Standing>`
    select card.column_id, exists (select from card_assignees assignee
      where assignee.board_id = card.board_id and assignee.card_id = card.id and assignee.user_id = ${args.user_id}) as is_assigned
    from cards card where card.board_id = ${args.board_id} and card.id = ${args.id}`,
)
/** In which column a card is, and whether a user is assigned to it. The whole card can be large. */
export async function readStanding(db: Db, key: Key, user_id: string | null): Promise<Standing> {
  return (await db.run(standing, { ...key, user_id }))[0] as Standing
}

const update = statement(
  'update_card',
  (args: Key & { changes: string; at: string }) => sql<Shown & { text_bytes: number }>`
    with changed as (
      select card.title as old_title, card.description as old_description, (jsonb_populate_record(card, ${args.changes}::jsonb)).*
      from cards card
      where card.board_id = ${args.board_id} and card.id = ${args.id}
    )
    update cards card set title = changed.title, description = changed.description, updated_at = ${args.at}
    from changed
    where card.board_id = changed.board_id and card.id = changed.id
      and (card.title, card.description) is distinct from (changed.title, changed.description)
    returning card.id, ${cardJson}::text as json,
      object_bytes(card.title, card.description) - object_bytes(changed.old_title, changed.old_description) as text_bytes`,
)
/** The card after the change, and by how much its text has grown; undefined when nothing changed. */
export async function updateCard(db: Db, key: Key, changes: Partial<Pick<Card, 'title' | 'description'>>, at: string) {
  return (await db.run(update, { ...key, changes: JSON.stringify(changes), at }))[0]
}

const remove = statement(
  'delete_card',
  (args: Key) => sql<Required<Growth>>`
    with gone as materialized (
      select text_bytes, file_bytes from card_usage where board_id = ${args.board_id} and id = ${args.id}
    )
    delete from cards using gone where board_id = ${args.board_id} and id = ${args.id}
    returning -gone.text_bytes as text_bytes, -gone.file_bytes as file_bytes, -1 as card_count`,
)
/** Deletes a card with all that hangs on it; returns what its board lost. */
export const deleteCard = async (db: Db, key: Key): Promise<Growth | undefined> => (await db.run(remove, key))[0]

const columnExists = statement('column_exists', (args: Key, query) =>
  query.selectFrom('columns').select('id').where('board_id', '=', args.board_id).where('id', '=', args.id),
)
export const hasColumn = async (db: Db, key: Key) => (await db.run(columnExists, key)).length === 1

const move = statement(
  'read_card_move',
  (args: Key & { column_id: string | null }) => sql<{
    from_id: string
    column_id: string | null
    json: JsonText<Card>
  }>`
    select card.column_id as from_id, target.id as column_id, ${cardJson}::text as json
    from cards card
    left join columns target on target.board_id = card.board_id and target.id = coalesce(${args.column_id}, card.column_id)
    where card.board_id = ${args.board_id} and card.id = ${args.id}`,
)
/** A card, and from where to where it would move; `column_id` is null when the board has no such column. */
export async function readMove(db: Db, key: Key, column_id: string | null) {
  return (await db.run(move, { ...key, column_id }))[0]
}

interface Placing {
  board_id: string
  column_id: string
  /** The card that the user moved: it alone changed, its neighbours only made room. */
  moved_id: string | null
  at: string
}
const place = statement(
  'place_cards',
  (args: Placing & { ids: string[]; ranks: number[] }) => sql<Shown>`
    update cards card set column_id = ${args.column_id}, rank = placed.rank,
      updated_at = case when card.id = ${args.moved_id} then ${args.at}::timestamptz else card.updated_at end
    from unnest(${args.ids}::uuid[], ${args.ranks}::int8[]) placed (id, rank)
    where card.board_id = ${args.board_id} and card.id = placed.id
    returning card.id, ${cardJson}::text as json`,
)
/** Gives cards of one column their ranks, in one statement; answers them by id. */
export async function placeCards(db: Db, placing: Placing, placed: { id: string; rank: number }[]) {
  const rows = await db.run(place, { ...placing, ids: placed.map((p) => p.id), ranks: placed.map((p) => p.rank) })
  return new Map(rows.map((row) => [row.id, row.json]))
}

const placeOne = statement('place_card', (args: Key & { column_id: string; rank: number; at: string }, query) =>
  query
    .updateTable('cards')
    .set({ column_id: args.column_id, rank: args.rank, updated_at: args.at })
    .where('board_id', '=', args.board_id)
    .where('id', '=', args.id),
)
/** Gives a card its place where there is room for it. Nothing else of it changes, so what it then looks like is known. */
export function placeCard(
  tx: Tx,
  { board_id, card, at }: { board_id: string; card: JsonText<Card>; at: string },
  place: Pick<Card, 'column_id' | 'rank'>,
): JsonText<Card> {
  const shown = JSON.parse(card) as Card
  tx.defer(placeOne, { board_id, id: shown.id, at, ...place })
  return asText({ ...shown, ...place, updated_at: at })
}

const touch = statement(
  'touch_cards',
  (args: { board_id: string; ids: string[]; at: string }) => sql<Shown>`
    update cards card set updated_at = ${args.at} where card.board_id = ${args.board_id} and card.id = any (${args.ids}::uuid[])
    returning card.id, ${cardJson}::text as json`,
)
/** Marks cards as changed, after what hangs on them changed; answers them in the order of their ids. */
export async function touchCards(db: Db, board_id: string, ids: string[], at: string): Promise<Shown[]> {
  const rows = await db.run(touch, { board_id, ids, at })
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1))
}

const assign = statement(
  'assign_card',
  (args: Key & { user_ids: string[] }) => sql`
    insert into card_assignees (board_id, card_id, user_id, assigned_at)
    select ${args.board_id}, ${args.id}, wanted.user_id, clock_timestamp() + wanted.nth * interval '1 microsecond'
    from unnest(${args.user_ids}::uuid[]) with ordinality wanted (user_id, nth)
    on conflict do nothing returning user_id`,
)
/** Assigns users; returns what those who were not assigned yet add to the board. */
export async function assignCard(db: Db, key: Key, user_ids: string[]): Promise<Growth> {
  const added = await db.run(assign, { ...key, user_ids })
  return { text_bytes: PERSON_BYTES * added.length }
}

const unassign = statement('unassign_card', (args: Key & { user_id: string }, query) =>
  query
    .deleteFrom('card_assignees')
    .where('board_id', '=', args.board_id)
    .where('card_id', '=', args.id)
    .where('user_id', '=', args.user_id)
    .returning('user_id'),
)
/** False when he was not assigned. */
export const unassignCard = async (db: Db, key: Key, user_id: string) =>
  (await db.run(unassign, { ...key, user_id })).length === 1

const unassignEverywhere = statement('unassign_cards', (args: { board_id: string; user_id: string }, query) =>
  query
    .deleteFrom('card_assignees')
    .where('board_id', '=', args.board_id)
    .where('user_id', '=', args.user_id)
    .returning('card_id'),
)
/** Takes a user off every card of a board; answers which. */
export async function unassignFromBoard(db: Db, board_id: string, user_id: string): Promise<string[]> {
  return (await db.run(unassignEverywhere, { board_id, user_id })).map((row) => row.card_id)
}

const addMark = statement('add_card_label', (args: Key & { label_id: string }, query) =>
  query
    .insertInto('card_labels')
    .values({ board_id: args.board_id, card_id: args.id, label_id: args.label_id })
    .onConflict((conflict) => conflict.doNothing())
    .returning('label_id'),
)
/** False when the card has the label already. */
export const addCardLabel = async (db: Db, key: Key, label_id: string) =>
  (await db.run(addMark, { ...key, label_id })).length === 1

const removeMark = statement('remove_card_label', (args: Key & { label_id: string }, query) =>
  query
    .deleteFrom('card_labels')
    .where('board_id', '=', args.board_id)
    .where('card_id', '=', args.id)
    .where('label_id', '=', args.label_id)
    .returning('label_id'),
)
/** False when the card does not have it. */
export const removeCardLabel = async (db: Db, key: Key, label_id: string) =>
  (await db.run(removeMark, { ...key, label_id })).length === 1
