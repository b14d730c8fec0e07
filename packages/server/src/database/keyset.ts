import { type RawBuilder, sql } from 'kysely'
import type { JsonRow } from './database.ts'

/** Where a page starts: after this key and id. Both are null on the first page. */
export interface Keyset {
  key: string | null
  id: string | null
}
/** A page of a list. A limit of null means all. */
export interface Page extends Keyset {
  limit: number | null
}

/** An element of a list, as JSON, with its position. */
export interface ListedRow<T> extends JsonRow<T> {
  cursor: string
  /** How many elements were found up to the limit, if a page is also limited in size and may have fewer. */
  total?: number
}

/** The place of a cursor; null is the start of the list. */
export function keysetOf(cursor: string | null): Keyset {
  const [key = null, id = null] = cursor?.split('_') ?? []
  return { key, id }
}

const FIRST_ID = sql.lit('00000000-0000-0000-0000-000000000000')
const LAST_ID = sql.lit('ffffffff-ffff-ffff-ffff-ffffffffffff')

/** The cursor of a row in a list by time and id. In microseconds, the precision of PostgreSQL. */
export const timeCursor = (time: RawBuilder<unknown>, id: RawBuilder<unknown>) =>
  sql<string>`(extract(epoch from ${time}) * 1000000)::int8 || '_' || ${id}`
/** The cursor of a row in a list by id. */
export const idCursor = (id: RawBuilder<unknown>) => sql<string>`'0_' || ${id}`
/** The cursor of a row in a list by number. */
export const numberCursor = (number: RawBuilder<unknown>) => sql<string>`${number} || '_' || ${FIRST_ID}`

const timeOf = ({ key }: Keyset) => sql`timestamptz 'epoch' + ${key}::int8 * interval '1 microsecond'`

/** The condition of the rows after a keyset, in ascending order of time and id. */
export const isLater = (time: RawBuilder<unknown>, id: RawBuilder<unknown>, keyset: Keyset) =>
  sql`(${time}, ${id}) > (coalesce(${timeOf(keyset)}, '-infinity'), coalesce(${keyset.id}::uuid, ${FIRST_ID}))`
/** The same in descending order. */
export const isEarlier = (time: RawBuilder<unknown>, id: RawBuilder<unknown>, keyset: Keyset) =>
  sql`(${time}, ${id}) < (coalesce(${timeOf(keyset)}, 'infinity'), coalesce(${keyset.id}::uuid, ${LAST_ID}))`
/** The condition of the rows after a keyset, in ascending order of the id. */
export const isGreater = (id: RawBuilder<unknown>, keyset: Keyset) =>
  sql`${id} > coalesce(${keyset.id}::uuid, ${FIRST_ID})`
/** The same in descending order. */
export const isLess = (id: RawBuilder<unknown>, keyset: Keyset) => sql`${id} < coalesce(${keyset.id}::uuid, ${LAST_ID})`
