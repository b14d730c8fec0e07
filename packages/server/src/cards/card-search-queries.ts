import type { Card } from '@lockstep/contract/cards'
import type { JsonText } from '@lockstep/contract/operation'
import { sql } from 'kysely'
import { type Db, type Statement, statement } from '../database/database.ts'
import { cardJson } from './card-queries.ts'

/** What a card must have to be found; what is left out does not matter. */
export interface CardFilters {
  search?: string
  label?: string
  assignee?: string
  column?: string
}
type Filter = keyof CardFilters
interface Search extends Required<CardFilters> {
  board_id: string
  after: string | null
  limit: number
}
interface Found {
  id: string
  /** How many there are up to the limit, also those that do not fit this page. */
  total: number
  json: JsonText<Card>
}

/** A page ends with the card that fills this much, by the texts of descriptions and of items. */
const PAGE_BYTES = 1_048_576
/** What an item takes as JSON beside its text. */
const ITEM_BYTES = 300

/** Where the first page begins: no id is greater. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * One statement for each combination of filters: they decide the plan, and a prepared statement keeps its plan whatever
 * it is given later. A label, else an assignee, leads: its index has its cards in the order of their ids. Otherwise the
 * cards of the board are walked in that order until the page is full. What does not lead is asked of one card at a time:
 * PostgreSQL takes any filter for so rare that it would rather read all cards of two filters, and compare each with each.
 */
const findBy = (given: readonly Filter[]) =>
  statement(['find_cards', ...given].join('_by_'), (args: Search) => {
    const has = (filter: Filter) => given.includes(filter)
    const lead = has('label')
      ? sql`join card_labels lead on lead.board_id = card.board_id and lead.card_id = card.id and lead.label_id = ${args.label}`
      : sql`join card_assignees lead on lead.board_id = card.board_id and lead.card_id = card.id and lead.user_id = ${args.assignee}`
    const isLed = has('label') || has('assignee')
    const id = sql.ref(isLed ? 'lead.card_id' : 'card.id')
    const isAssigned = sql`exists (select from card_assignees assigned
      where assigned.board_id = card.board_id and assigned.card_id = card.id and assigned.user_id = ${args.assignee} offset 0)`
    return sql<Found>`
      select card.id, card.total, ${cardJson}::text as json from (
        select found.*, count(*) over () as total,
          coalesce(sum(size.bytes) over (order by found.id desc rows between unbounded preceding and 1 preceding), 0) as bytes_before
        from (
        select card.* from cards card ${isLed ? lead : sql``}
        where card.board_id = ${args.board_id}
          and ${id} <= coalesce(${args.after}, ${sql.lit(LAST_ID)}::uuid) and ${id} is distinct from ${args.after}
          ${has('label') && has('assignee') ? sql`and ${isAssigned}` : sql``}
          ${has('column') ? sql`and card.column_id ${sql.raw(isLed ? 'is not distinct from' : '=')} ${args.column}` : sql``}
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
const statements = new Map<string, Statement<Search, Found>>(combinations.map((given) => [given.join(), findBy(given)]))

/** Cards of a board that have all that is asked for, by id downwards, behind the card `after`. */
export function findCards(
  db: Db,
  board_id: string,
  filters: CardFilters,
  { after, limit }: { after: string | null; limit: number },
): Promise<Found[]> {
  const given = FILTERS.filter((filter) => filters[filter])
  const found = statements.get(given.join()) as Statement<Search, Found>
  return db.run(found, { ...(filters as Required<CardFilters>), board_id, after, limit })
}
