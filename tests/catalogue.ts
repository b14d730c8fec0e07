import { resources } from '@lockstep/contract/resources'
import type pg from 'pg'

/** The owner of a table: one board, named by a column, or the whole service, with the reason. */
type Scope = { by: string } | { global: string }

const resourceTables = Object.values(resources)
  .map(({ table }) => table)
  .filter((table) => table !== resources.board.table)

/** Every table, by name. A new table needs a line here, unless it is that of a resource of the contract. */
const scopes: Record<string, Scope> = {
  ...Object.fromEntries(resourceTables.map((table) => [table, { by: 'board_id' }])),
  automation_runs: { by: 'board_id' },
  board_events: { by: 'board_id' },
  board_members: { by: 'board_id' },
  board_stream: { by: 'board_id' },
  boards: { by: 'id' },
  card_assignees: { by: 'board_id' },
  card_labels: { by: 'board_id' },
  file_chunks: { by: 'board_id' },
  item_assignees: { by: 'board_id' },
  removals: { by: 'board_id' },
  unclaimed_files: { by: 'board_id' },
  inbox_items: { by: 'board_id' },
  webhooks: { by: 'board_id' },
  webhook_deliveries: { by: 'board_id' },
  access_tokens: {
    global: 'A token is found by its hash before the board is known, and most belong to a user and no board.',
  },
  users: { global: 'A user belongs to many boards.' },
  invitations: { global: 'An invitation is found by its secret before the board is known, and can be to the service.' },
  password_reset_links: { global: 'A link belongs to a user.' },
  stored_responses: { global: 'A stored response is found by user and key before the board is known.' },
  job_leases: { global: 'Background jobs that one instance runs for the whole service.' },
  schema_migrations: { global: 'The applied migrations.' },
  daily_totals: { global: 'What the whole service has created, for the statistics.' },
  deleted_events: { global: 'How many events of all boards were deleted, for the statistics.' },
  admin_actions: { global: 'The audit log of accounts.' },
}

/** Keys of a board's table that do not contain the board, and why. */
const exceptions: { keys: string[]; why: string }[] = [
  {
    keys: resourceTables.map((table) => `${table}_id_taken`),
    why: 'Ids are unique in the whole service: a client may choose them, and a path such as `/cards/{card_id}` names no board.',
  },
  {
    keys: [
      'boards_created_by_fkey',
      'boards_updated_by_fkey',
      'board_members_user_id_fkey',
      'comments_author_id_fkey',
      'webhooks_created_by_fkey',
    ],
    why: 'They refer to `users`, which belong to no board.',
  },
  { keys: ['inbox_items_pkey'], why: 'A user reads and marks their items over all boards.' },
]

/** A primary, unique or foreign key of the database. */
export interface Key {
  table: string
  name: string
  kind: 'primary' | 'unique' | 'foreign'
  columns: string[]
  /** For a foreign key: the referenced table and columns. */
  target: { table: string; columns: string[] } | null
}
export interface Catalogue {
  tables: string[]
  keys: Key[]
}

/** Reads all tables and keys. A unique index without a constraint is a key too. */
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

/** Tables and keys that break SCALE-1, one sentence each. */
export function judgeCatalogue({ tables, keys }: Catalogue): string[] {
  const columnOf = (table: string) => {
    const scope = scopes[table]
    return scope && 'by' in scope ? scope.by : undefined
  }
  const excused = exceptions.flatMap((exception) => exception.keys)
  /** Whether the key contains the board, and a reference stays within it. */
  const isLocal = ({ table, columns, target }: Key) => {
    const index = columns.indexOf(columnOf(table) ?? '')
    return index >= 0 && (!target || target.columns[index] === columnOf(target.table))
  }
  const wrong = keys.filter((key) => columnOf(key.table) && !isLocal(key))
  const names = wrong.map(({ name }) => name)
  return [
    ...tables.filter((table) => !scopes[table]).map((table) => `${table} is not in \`scopes\``),
    ...Object.keys(scopes)
      .filter((table) => !tables.includes(table))
      .map((table) => `there is no table ${table}`),
    ...wrong
      .filter(({ name }) => !excused.includes(name))
      .map(
        ({ table, name, kind, columns }) =>
          `${table}: the ${kind} key ${name} (${columns.join(', ')}) leaves its board`,
      ),
    ...excused.filter((name) => !names.includes(name)).map((name) => `${name} does not need an exception`),
  ]
}
