import type { Card } from '@lockstep/contract/cards'
import { sql } from 'kysely'
import { type Db, type Statement, statement } from '../database/database.ts'
import { idCursor, type ListedRow } from '../database/keyset.ts'
import { cardJson } from './card-queries.ts'

/** Filters of a search. A card must match all that are given. */
export interface CardFilters {
  search?: string
  label?: string
  assignee?: string
  column?: string
  number?: number
  due_from?: string
  due_to?: string
}
type Filter = 'search' | 'label' | 'assignee' | 'column'
interface CardSearch extends Required<Pick<CardFilters, Filter>> {
  board_id: string
  number: number | null
  due_from: string | null
  due_to: string | null
  after: string | null
  limit: number | null
}

/** A page ends with the card that reaches this size, counting descriptions and items. */
const PAGE_BYTES = 1_048_576
/** JSON size of an item without its text. */
const ITEM_BYTES = 300

/** The cursor of the first page: no id is greater. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * One statement for each combination of filters, because a prepared statement keeps its plan. The statement is driven by the
 * label or else by the assignee, whose index has the cards in the order of their ids; without either, by the cards of the board.
 * Other filters are written so that they are checked for one card at a time: the planner would otherwise assume that they are
 * very selective, read all cards of both filters and join them. Number and due dates are parameters of every statement, so
 * that they need no combinations of their own.
 */
const findBy = (given: readonly Filter[]) =>
  statement(['find_cards', ...given].join('_by_'), (args: CardSearch) => {
    const has = (filter: Filter) => given.includes(filter)
    const lead = has('label')
      ? sql`join card_labels lead on lead.board_id = card.board_id and lead.card_id = card.id and lead.label_id = ${args.label}`
      : sql`join card_assignees lead on lead.board_id = card.board_id and lead.card_id = card.id and lead.user_id = ${args.assignee}`
    const isIndexed = has('label') || has('assignee')
    const id = sql.ref(isIndexed ? 'lead.card_id' : 'card.id')
    const isAssigned = sql`exists (select from card_assignees assigned
      where assigned.board_id = card.board_id and assigned.card_id = card.id and assigned.user_id = ${args.assignee} offset 0)`
    return sql<ListedRow<Card>>`
      select ${idCursor(sql`card.id`)} as cursor, card.total, ${cardJson}::text as json from (
        select found.*, count(*) over () as total,
          coalesce(sum(size.bytes) over (order by found.id desc rows between unbounded preceding and 1 preceding), 0) as bytes_before
        from (
        select card.* from cards card ${isIndexed ? lead : sql``}
        where card.board_id = ${args.board_id} and card.column_id is not null
          and ${id} <= coalesce(${args.after}, ${sql.lit(LAST_ID)}::uuid) and ${id} is distinct from ${args.after}
          ${has('label') && has('assignee') ? sql`and ${isAssigned}` : sql``}
          ${has('column') ? sql`and card.column_id ${sql.raw(isIndexed ? 'is not distinct from' : '=')} ${args.column}` : sql``}
          and coalesce(card.number = ${args.number}::int8, ${args.number}::int8 is null)
          and coalesce(card.due_on >= ${args.due_from}::date, ${args.due_from}::date is null)
          and coalesce(card.due_on <= ${args.due_to}::date, ${args.due_to}::date is null)
          ${has('search') ? sql`and strpos(card.search_key, (select search_key(${args.search}))) > 0` : sql``}
        order by ${id} desc limit ${args.limit}
        ) found cross join lateral (
          select octet_length(coalesce(found.description, ''))
            + coalesce(sum(octet_length(item.content) + ${sql.lit(ITEM_BYTES)}), 0) as bytes
          from checklists checklist
          join checklist_items item on item.board_id = checklist.board_id and item.checklist_id = checklist.id
          where checklist.board_id = found.board_id and checklist.card_id = found.id
        ) size
      ) card where card.bytes_before < ${sql.lit(PAGE_BYTES)} order by card.id desc`
  })

const FILTERS: readonly Filter[] = ['search', 'label', 'assignee', 'column']
const combinations = FILTERS.reduce<Filter[][]>((all, filter) => all.concat(all.map((some) => [...some, filter])), [[]])
const statements = new Map<string, Statement<CardSearch, ListedRow<Card>>>(
  combinations.map((given) => [given.join(), findBy(given)]),
)

/** The cards of a board that match all filters, by descending id, after the card `after`. */
export function findCards(
  db: Db,
  board_id: string,
  filters: CardFilters,
  { after, limit }: { after: string | null; limit: number | null },
): Promise<ListedRow<Card>[]> {
  const given = FILTERS.filter((filter) => filters[filter])
  const found = statements.get(given.join()) as Statement<CardSearch, ListedRow<Card>>
  const { number = null, due_from = null, due_to = null } = filters
  return db.run(found, { ...(filters as Required<CardFilters>), number, due_from, due_to, board_id, after, limit })
}
