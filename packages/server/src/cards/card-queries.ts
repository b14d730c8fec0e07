import type { Card, cardOperations } from '@lockstep/contract/cards'
import type { Label } from '@lockstep/contract/labels'
import type { JsonText } from '@lockstep/contract/operation'
import type { Removal } from '@lockstep/contract/removal'
import { sql } from 'kysely'
import { attachmentsJson } from '../attachments/attachment-queries.ts'
import { startsRule } from '../automations/automation-queries.ts'
import { checklistJson } from '../checklists/checklist-queries.ts'
import { rankedLists } from '../core/ordering/placement.ts'
import type { Growth } from '../core/quotas.ts'
import {
  insertStatement,
  type NewFields,
  patchStatement,
  type ResourceRow,
  rankSetter,
  readStatement,
} from '../core/resource-statements.ts'
import { type Db, type ResourceKey, statement, wireTime } from '../database/database.ts'
import { labelJson } from '../labels/label-queries.ts'
import { userJson } from '../users/user-queries.ts'

/** A card with its labels, assignees, checklists and attachments, of the row `card` of the table `cards`. */
export const cardJson = sql<Card>`(select row_to_json(fields) from (select
  card.id, card.column_id, card.title, card.description, card.rank,
  (select coalesce(json_agg(${labelJson} order by card_label.added_at, card_label.label_id), '[]')
    from card_labels card_label join labels label on label.board_id = card_label.board_id and label.id = card_label.label_id
    where card_label.board_id = card.board_id and card_label.card_id = card.id) as labels,
  (select coalesce(json_agg(${userJson} order by assignee.assigned_at, assignee.user_id), '[]')
    from card_assignees assignee join users person on person.id = assignee.user_id
    where assignee.board_id = card.board_id and assignee.card_id = card.id) as assignees,
  (select coalesce(json_agg(${checklistJson} order by checklist.rank, checklist.id), '[]') from checklists checklist
    where checklist.board_id = card.board_id and checklist.card_id = card.id) as checklists,
  ${attachmentsJson} as attachments,
  ${wireTime(sql`card.created_at`)} as created_at, ${wireTime(sql`card.updated_at`)} as updated_at,
  card.number, card.due_on, card.comment_count) fields)`

type CardRow = ResourceRow<Card>

export const findCardRank = rankedLists('card')
export const setCardRanks = rankSetter('card', cardJson)

interface NewCard extends ResourceKey {
  column_id: string
  rank: number
  number: number
  at: string
}
type CardFields = NewFields<typeof cardOperations.createCard>
const insert = insertStatement<NewCard & CardFields, Card>('card', cardJson, ['number'])
export async function insertCard(db: Db, card: NewCard, fields: CardFields): Promise<JsonText<Card>> {
  const [row] = await db.run(insert, { ...card, ...fields })
  return (row as ResourceRow<Card>).json
}

const read = readStatement('card', cardJson, sql`and card.column_id is not null`)
/** Undefined when the board has no such card, or when it was archived or deleted. */
export async function readCard(db: Db, key: ResourceKey): Promise<JsonText<Card> | undefined> {
  return (await db.run(read, key))[0]?.json
}

interface CardState {
  column_id: string
  is_assigned: boolean
}
const readState = statement(
  'read_card_state',
  (args: ResourceKey & { user_id: string | null }) => sql<CardState>`
    select card.column_id, exists (select from card_assignees assignee
      where assignee.board_id = card.board_id and assignee.card_id = card.id and assignee.user_id = ${args.user_id}) as is_assigned
    from cards card where card.board_id = ${args.board_id} and card.id = ${args.id}`,
)
/** The column of a card, and whether a user is assigned to it, without reading the whole card, which can be large. */
export async function readCardState(db: Db, key: ResourceKey, user_id: string | null): Promise<CardState> {
  return (await db.run(readState, { ...key, user_id }))[0] as CardState
}

/** The card after the change, and the growth of its text; undefined when nothing changes. */
export const updateCard = async (db: Db, key: ResourceKey, body: object, at: string) =>
  (await db.run(patch, { ...key, changes: JSON.stringify(body), stamp: at }))[0]
const patch = patchStatement('card', cardJson, { stamp: 'updated_at' })

const remove = statement(
  'delete_card',
  (args: ResourceKey) => sql<Required<Growth>>`
    with gone as materialized (
      select text_bytes, file_bytes from card_usage where board_id = ${args.board_id} and id = ${args.id}
    )
    delete from cards using gone where board_id = ${args.board_id} and id = ${args.id}
    returning -gone.text_bytes as text_bytes, -gone.file_bytes as file_bytes, -1 as card_count`,
)
/** Deletes a card with its contents. Returns the (negative) growth of the board. */
export const deleteCard = async (db: Db, key: ResourceKey): Promise<Growth | undefined> =>
  (await db.run(remove, key))[0]

interface NewCardState {
  hasColumn: boolean
  /** Whether a deleted card of the board has the id. */
  isDeleted: boolean
  /** Whether a column of the board has the id: what was removed is found by its id alone. */
  isOfColumn: boolean
}
const columnExists = statement('column_exists', (args: ResourceKey, query) =>
  query.selectFrom('columns').select('id').where('board_id', '=', args.board_id).where('id', '=', args.id),
)
export const hasColumn = async (db: Db, key: ResourceKey) => (await db.run(columnExists, key)).length === 1

const newCardState = statement(
  'read_new_card_state',
  (args: ResourceKey & { column_id: string }) => sql<{
    has_column: boolean
    is_column: boolean
    removed: 'column' | Removal['as'] | null
  }>`
    select exists (select from columns where board_id = ${args.board_id} and id = ${args.column_id}) as has_column,
      exists (select from columns where board_id = ${args.board_id} and id = ${args.id}) as is_column,
      (select case when card_id is null then 'column' else removed_as end from removals
        where board_id = ${args.board_id} and id = ${args.id}) as removed`,
)
/** What decides whether a card can be created. Only an id that a client chose can be in use. */
export async function readNewCardState(
  db: Db,
  { board_id, id, column_id }: { board_id: string; id: string | null; column_id: string },
): Promise<NewCardState> {
  if (id === null)
    return { hasColumn: await hasColumn(db, { board_id, id: column_id }), isDeleted: false, isOfColumn: false }
  const [row] = await db.run(newCardState, { board_id, id, column_id })
  return {
    hasColumn: row?.has_column === true,
    isDeleted: row?.removed === 'deleted',
    isOfColumn: row?.is_column === true || row?.removed === 'column',
  }
}

const move = statement(
  'read_card_move',
  (args: ResourceKey & { column_id: string | null }) => sql<{
    from_id: string
    column_id: string | null
    starts_rule: boolean
  }>`
    select card.column_id as from_id, target.id as column_id,
      ${startsRule('CARD_MOVED', sql`target.board_id`, sql`target.id`)} as starts_rule
    from cards card
    left join columns target on target.board_id = card.board_id and target.id = coalesce(${args.column_id}, card.column_id)
    where card.board_id = ${args.board_id} and card.id = ${args.id} and card.column_id is not null`,
)
/** The current column of a card, and the target column; `column_id` is null when the board has no such column. */
export async function readCardMove(db: Db, key: ResourceKey, column_id: string | null) {
  return (await db.run(move, { ...key, column_id }))[0]
}

const touch = statement(
  'touch_cards',
  (args: { board_id: string; ids: string[]; at: string }) => sql<CardRow>`
    update cards card set updated_at = ${args.at} where card.board_id = ${args.board_id} and card.id = any (${args.ids}::uuid[])
      and card.column_id is not null
    returning card.id, ${cardJson}::text as json`,
)
/** Sets `updated_at` of cards on the board whose contents changed. Returns them in the order of their ids. */
export async function touchCards(db: Db, board_id: string, ids: string[], at: string): Promise<CardRow[]> {
  const rows = await db.run(touch, { board_id, ids, at })
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Later than every element of the list, also if the clock was set back: the order of a list does not change. */
const afterAll = (
  table: 'card_labels' | 'card_assignees',
  time: string,
  args: ResourceKey,
) => sql`greatest(clock_timestamp(),
      (select max(${sql.id(time)}) + interval '1 microsecond' from ${sql.table(table)}
        where board_id = ${args.board_id} and card_id = ${args.id}))`

const assign = statement(
  'assign_card',
  (args: ResourceKey & { user_ids: string[] }) => sql<{ user_id: string }>`
    insert into card_assignees (board_id, card_id, user_id, assigned_at)
    select ${args.board_id}, ${args.id}, added.user_id, ${afterAll('card_assignees', 'assigned_at', args)} + added.nth * interval '1 microsecond'
    from unnest(${args.user_ids}::uuid[]) with ordinality added (user_id, nth)
    on conflict do nothing returning user_id`,
)
const readUnassigned = statement(
  'read_unassigned',
  (args: ResourceKey & { user_ids: string[] }) => sql<{ unassigned: string[] }>`
    select array(select wanted.id::text from unnest(${args.user_ids}::uuid[]) with ordinality wanted (id, nth)
      where not exists (select from card_assignees assignee where assignee.board_id = card.board_id
        and assignee.card_id = card.id and assignee.user_id = wanted.id) order by wanted.nth) as unassigned
    from cards card where card.board_id = ${args.board_id} and card.id = ${args.id} and card.column_id is not null`,
)
/** Those of the users who are not assigned to a card; undefined when the board has no such card. */
export const readUnassignedUsers = async (db: Db, key: ResourceKey, user_ids: string[]) =>
  (await db.run(readUnassigned, { ...key, user_ids }))[0]?.unassigned
/** Assigns users. Returns those who were not assigned yet. */
export const assignCard = async (db: Db, key: ResourceKey, user_ids: string[]): Promise<string[]> =>
  (await db.run(assign, { ...key, user_ids })).map(({ user_id }) => user_id)

const unassign = statement('unassign_card', (args: ResourceKey & { user_id: string }, query) =>
  query
    .deleteFrom('card_assignees')
    .where('board_id', '=', args.board_id)
    .where('card_id', '=', args.id)
    .where('user_id', '=', args.user_id)
    .returning('user_id'),
)
/** False when the user was not assigned. */
export const unassignCard = async (db: Db, key: ResourceKey, user_id: string) =>
  (await db.run(unassign, { ...key, user_id })).length === 1

const unassignEverywhere = statement('unassign_cards', (args: { board_id: string; user_id: string }, query) =>
  query
    .deleteFrom('card_assignees')
    .where('board_id', '=', args.board_id)
    .where('user_id', '=', args.user_id)
    .returning('card_id'),
)
/** Removes a user from every card of a board. Returns the ids of these cards. */
export async function unassignFromBoard(db: Db, board_id: string, user_id: string): Promise<string[]> {
  return (await db.run(unassignEverywhere, { board_id, user_id })).map((row) => row.card_id)
}

const readLabelling = statement(
  'read_card_labelling',
  (args: ResourceKey & { label_id: string }) => sql<{
    label: JsonText<Label> | null
    is_labelled: boolean
    starts_rule: boolean
  }>`
    select exists (select from card_labels card_label where card_label.board_id = card.board_id
        and card_label.card_id = card.id and card_label.label_id = ${args.label_id}) as is_labelled,
      case when label.id is not null then ${labelJson}::text end as label,
      ${startsRule('LABEL_ADDED', sql`label.board_id`, sql`label.id`)} as starts_rule
    from cards card left join labels label on label.board_id = card.board_id and label.id = ${args.label_id}
    where card.board_id = ${args.board_id} and card.id = ${args.id} and card.column_id is not null`,
)
/** Undefined when the board has no such card; `label` is null when it has no such label. */
export const readCardLabelling = async (db: Db, key: ResourceKey, label_id: string) =>
  (await db.run(readLabelling, { ...key, label_id }))[0]

const addLabel = statement(
  'add_card_label',
  (args: ResourceKey & { label_id: string }) => sql`
    insert into card_labels (board_id, card_id, label_id, added_at)
    values (${args.board_id}, ${args.id}, ${args.label_id}, ${afterAll('card_labels', 'added_at', args)})`,
)
/** Adds a label that the card does not have. */
export const addCardLabel = (db: Db, key: ResourceKey, label_id: string) => db.run(addLabel, { ...key, label_id })

const removeLabel = statement('remove_card_label', (args: ResourceKey & { label_id: string }, query) =>
  query
    .deleteFrom('card_labels')
    .where('board_id', '=', args.board_id)
    .where('card_id', '=', args.id)
    .where('label_id', '=', args.label_id)
    .returning('label_id'),
)
/** False when the card does not have the label. */
export const removeCardLabel = async (db: Db, key: ResourceKey, label_id: string) =>
  (await db.run(removeLabel, { ...key, label_id })).length === 1
