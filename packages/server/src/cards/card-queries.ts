import type { Card, cardOperations } from '@lockstep/contract/cards'
import type { Label } from '@lockstep/contract/labels'
import type { JsonText } from '@lockstep/contract/operation'
import type { Removal } from '@lockstep/contract/removal'
import type { User } from '@lockstep/contract/users'
import { sql } from 'kysely'
import { attachmentsJson } from '../attachments/attachment-queries.ts'
import { startsRule } from '../automations/automation-queries.ts'
import { checklistJson } from '../checklists/checklist-queries.ts'
import { rankedLists } from '../core/ordering/placement.ts'
import type { Growth } from '../core/quotas.ts'
import {
  deferredPatch,
  insertStatement,
  type NewFields,
  type ResourceRow,
  rankSetter,
  readStatement,
} from '../core/resource-statements.ts'
import { type Db, type ResourceKey, statement, type Tx, wireTime } from '../database/database.ts'
import { labelJson } from '../labels/label-queries.ts'
import { appendElements, hasElement, type ListField, replaceFields } from '../platform/json-text.ts'
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
const asText = (card: Card) => JSON.stringify(card) as JsonText<Card>

export const findCardRank = rankedLists('card')
export const setCardRanks = rankSetter('card', cardJson)

interface NewCard extends ResourceKey {
  column_id: string
  rank: number
  number: number
  at: string
}
type CardFields = NewFields<typeof cardOperations.createCard>
const insert = insertStatement<NewCard & CardFields>('card', undefined, ['number'])
/** Inserts a card. Its JSON is built here, without a read, with the fields in the order of `cardJson`. */
export function insertCard(tx: Tx, card: NewCard, fields: CardFields): JsonText<Card> {
  const { id, column_id, rank, number, at } = card
  const { due_on, ...texts } = fields
  tx.defer(insert, { ...card, ...fields })
  const empty = { labels: [], assignees: [], checklists: [], attachments: [] }
  const times = { created_at: at, updated_at: at }
  return asText({ id, column_id, ...texts, rank, ...empty, ...times, number, due_on, comment_count: 0 })
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
export const updateCard = deferredPatch<Card>('card', 'updated_at')

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
    json: JsonText<Card>
  }>`
    select card.column_id as from_id, target.id as column_id, ${cardJson}::text as json,
      ${startsRule('CARD_MOVED', sql`target.board_id`, sql`target.id`)} as starts_rule
    from cards card
    left join columns target on target.board_id = card.board_id and target.id = coalesce(${args.column_id}, card.column_id)
    where card.board_id = ${args.board_id} and card.id = ${args.id} and card.column_id is not null`,
)
/** A card with its current column and the target column; `column_id` is null when the board has no such column. */
export async function readCardMove(db: Db, key: ResourceKey, column_id: string | null) {
  return (await db.run(move, { ...key, column_id }))[0]
}

const setRank = statement(
  'set_card_rank',
  (args: ResourceKey & { column_id: string; rank: number; at: string }, query) =>
    query
      .updateTable('cards')
      .set({ column_id: args.column_id, rank: args.rank, updated_at: args.at })
      .where('board_id', '=', args.board_id)
      .where('id', '=', args.id),
)
/** Sets the column and rank of a card. Its new JSON is built from the old one, without a read. */
export function setCardRank(
  tx: Tx,
  key: ResourceKey,
  { card, at }: { card: JsonText<Card>; at: string },
  target: Pick<Card, 'column_id' | 'rank'>,
): JsonText<Card> {
  tx.defer(setRank, { ...key, at, ...target })
  return replaceFields(card, { ...target, updated_at: at })
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

const touchOne = statement('touch_card', (args: ResourceKey & { at: string }, query) =>
  query
    .updateTable('cards')
    .set({ updated_at: args.at })
    .where('board_id', '=', args.board_id)
    .where('id', '=', args.id),
)
const [LABELS, ASSIGNEES]: [ListField, ListField] = [
  ['labels', 'assignees'],
  ['assignees', 'checklists'],
]
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
/** Assigns users. Returns those who were not assigned yet. */
export const assignCard = async (db: Db, key: ResourceKey, user_ids: string[]): Promise<string[]> =>
  (await db.run(assign, { ...key, user_ids })).map(({ user_id }) => user_id)

const readAssignment = statement(
  'read_card_assignment',
  (args: ResourceKey & { user_ids: string[] }) => sql<{ json: JsonText<Card>; people: JsonText<User>[] }>`
    select ${cardJson}::text as json,
      array(select ${userJson}::text from unnest(${args.user_ids}::uuid[]) with ordinality wanted (id, nth)
        join users person on person.id = wanted.id order by wanted.nth) as people
    from cards card where card.board_id = ${args.board_id} and card.id = ${args.id} and card.column_id is not null`,
)
/** A card, and the profiles of the users to assign in the same order. */
export const readCardAssignment = async (db: Db, key: ResourceKey, user_ids: string[]) =>
  (await db.run(readAssignment, { ...key, user_ids }))[0]

/** Assigns users to a card that was read under the board lock. Returns it as it is then, and those who were not assigned yet. */
export function addAssignees(
  tx: Tx,
  key: ResourceKey,
  { json, people }: { json: JsonText<Card>; people: JsonText<User>[] },
  { user_ids, at }: { user_ids: string[]; at: string },
): { json: JsonText<Card>; added: string[] } {
  const isNew = user_ids.map((id) => !hasElement(json, ASSIGNEES, id))
  const added = user_ids.filter((_, i) => isNew[i])
  if (added.length > 0) tx.defer(assign, { ...key, user_ids: added })
  tx.defer(touchOne, { ...key, at })
  const extended = appendElements(
    json,
    ASSIGNEES,
    people.filter((_, i) => isNew[i]),
  )
  return { json: replaceFields(extended, { updated_at: at }), added }
}

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
    json: JsonText<Card>
    label: JsonText<Label> | null
    starts_rule: boolean
  }>`
    select ${cardJson}::text as json, case when label.id is not null then ${labelJson}::text end as label,
      ${startsRule('LABEL_ADDED', sql`label.board_id`, sql`label.id`)} as starts_rule
    from cards card left join labels label on label.board_id = card.board_id and label.id = ${args.label_id}
    where card.board_id = ${args.board_id} and card.id = ${args.id} and card.column_id is not null`,
)
/** A card and a label of the board; `label` is null when the board has no such label. */
export const readCardLabelling = async (db: Db, key: ResourceKey, label_id: string) =>
  (await db.run(readLabelling, { ...key, label_id }))[0]

const addLabel = statement(
  'add_card_label',
  (args: ResourceKey & { label_id: string }) => sql`
    insert into card_labels (board_id, card_id, label_id, added_at)
    values (${args.board_id}, ${args.id}, ${args.label_id}, ${afterAll('card_labels', 'added_at', args)})`,
)
/** Adds a label to a card that was read under the board lock. Returns it as it is then; undefined when it has the label already. */
export function addCardLabel(
  tx: Tx,
  key: ResourceKey,
  { json, label }: { json: JsonText<Card>; label: JsonText<Label> },
  { label_id, at }: { label_id: string; at: string },
): JsonText<Card> | undefined {
  if (hasElement(json, LABELS, label_id)) return undefined
  tx.defer(addLabel, { ...key, label_id })
  tx.defer(touchOne, { ...key, at })
  return replaceFields(appendElements(json, LABELS, [label]), { updated_at: at })
}

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
