import type pg from 'pg'

/** How a table would be spread over machines: by the column that names its board, or not by board, for a reason. */
type Scope = { by: string } | { global: string }

/** Every table, by name. A new table is a line here; `{ by: 'board_id' }` unless there is a reason. */
export const scopes: Record<string, Scope> = {
  attachments: { by: 'board_id' },
  automation_rules: { by: 'board_id' },
  automation_runs: { by: 'board_id' },
  board_events: { by: 'board_id' },
  board_members: { by: 'board_id' },
  board_stream: { by: 'board_id' },
  boards: { by: 'id' },
  card_assignees: { by: 'board_id' },
  card_labels: { by: 'board_id' },
  cards: { by: 'board_id' },
  checklist_items: { by: 'board_id' },
  checklists: { by: 'board_id' },
  columns: { by: 'board_id' },
  file_chunks: { by: 'board_id' },
  item_assignees: { by: 'board_id' },
  labels: { by: 'board_id' },
  unclaimed_files: { by: 'board_id' },
  users: { global: 'A person is on many boards. Read by every request, written seldom: a copy on every machine.' },
  stored_responses: { global: 'An answer is found by user and key before any board is known: spread by `user_id`.' },
  job_leases: { global: 'Work that one instance does for all: a handful of rows, on one machine.' },
  schema_migrations: { global: 'Which migrations were made: written by a migration alone.' },
  admin_actions: { global: 'What was done to accounts, which belong to no board: seldom written, on one machine.' },
}

/** A key of a board-scoped table that does not hold the board, why that is so, and how a distributed engine would carry it. */
export interface Exception {
  keys: string[]
  why: string
  carried: string
}
export const exceptions: Exception[] = [
  {
    keys: [
      'attachments_id_taken',
      'automation_rules_id_taken',
      'cards_id_taken',
      'checklist_items_id_taken',
      'checklists_id_taken',
      'columns_id_taken',
      'labels_id_taken',
    ],
    why: 'Ids are unique over the service, because a client may choose them, and `/cards/{card_id}` names no board.',
    carried:
      'By an engine that has unique indexes over all machines as it is. Otherwise by a table of ids, spread by id: `(id, board_id)`, written with the row. It is also the way from an id to its board, which never changes and can be kept in memory.',
  },
  {
    keys: ['boards_created_by_fkey', 'boards_updated_by_fkey', 'board_members_user_id_fkey'],
    why: 'They point to `users`, which belong to no board.',
    carried: 'By the copy of `users` on every machine; people are deactivated and not deleted, so nothing cascades.',
  },
]

/** A primary, unique or foreign key, as the database has it. */
export interface Key {
  table: string
  name: string
  kind: 'primary' | 'unique' | 'foreign'
  columns: string[]
  /** For a foreign key: where it points to, column by column. */
  target: { table: string; columns: string[] } | null
}
export interface Catalogue {
  tables: string[]
  keys: Key[]
}

/** All tables and keys of a database. A unique index without a constraint is a key too. */
export async function readCatalogue(sql: Pick<pg.Pool, 'query'>): Promise<Catalogue> {
  const tables = await sql.query<{ name: string }>(
    `select relname as name from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace order by 1`,
  )
  const keys = await sql.query<Key>(`
    with named as (
      select c.conname as name, c.conrelid as relation, c.conkey as columns, c.confrelid as target, c.confkey as target_columns,
        case c.contype when 'p' then 'primary' when 'u' then 'unique' else 'foreign' end as kind
      from pg_constraint c where c.contype in ('p', 'u', 'f') and c.connamespace = 'public'::regnamespace
      union all
      select i.indexrelid::regclass::text, i.indrelid, i.indkey::int2[], 0::oid, null, 'unique'
      from pg_index i join pg_class r on r.oid = i.indrelid and r.relnamespace = 'public'::regnamespace
      where i.indisunique and not exists (select from pg_constraint c where c.conindid = i.indexrelid and c.contype in ('p', 'u'))
    )
    select relation::regclass::text as "table", name, kind,
      array(select a.attname::text from unnest(columns) with ordinality k(n, nth)
        join pg_attribute a on a.attrelid = relation and a.attnum = k.n order by nth) as columns,
      case when target <> 0 then json_build_object('table', target::regclass::text, 'columns',
        array(select a.attname::text from unnest(target_columns) with ordinality k(n, nth)
          join pg_attribute a on a.attrelid = target and a.attnum = k.n order by nth)) end as target
    from named order by 1, 2`)
  return { tables: tables.rows.map(({ name }) => name), keys: keys.rows }
}

/** What stands in the way of spreading the tables by board: each as a sentence. */
export function judgeCatalogue({ tables, keys }: Catalogue, known = { scopes, exceptions }): string[] {
  const columnOf = (table: string) => {
    const scope = known.scopes[table]
    return scope && 'by' in scope ? scope.by : undefined
  }
  const excused = known.exceptions.flatMap((exception) => exception.keys)
  /** Whether the key stays on one machine: it holds the board, and a reference leads to the same board. */
  const isLocal = ({ table, columns, target }: Key) => {
    const place = columns.indexOf(columnOf(table) ?? '')
    return place >= 0 && (!target || target.columns[place] === columnOf(target.table))
  }
  const wrong = keys.filter((key) => columnOf(key.table) && !isLocal(key))
  const names = wrong.map(({ name }) => name)
  return [
    ...tables.filter((table) => !known.scopes[table]).map((table) => `${table} is in no class: add it to scopes`),
    ...Object.keys(known.scopes)
      .filter((table) => !tables.includes(table))
      .map((table) => `${table} is no table`),
    ...wrong
      .filter(({ name }) => !excused.includes(name))
      .map(
        ({ table, name, kind, columns }) =>
          `${table}: the ${kind} key ${name} (${columns.join(', ')}) leaves its board`,
      ),
    ...excused.filter((name) => !names.includes(name)).map((name) => `${name} is excused, and needs no excuse`),
  ]
}
