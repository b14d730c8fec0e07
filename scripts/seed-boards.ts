import { randomBytes } from 'node:crypto'
import { EVENT_VERSION } from '@lockstep/contract/realtime'
import { sql } from 'kysely'
import pg from 'pg'
import { Passwords } from '../packages/server/src/auth/passwords.ts'
import { cardJson } from '../packages/server/src/cards/card-queries.ts'
import { GAP } from '../packages/server/src/core/ordering/rank.ts'
import { statement, wireTime } from '../packages/server/src/database/database.ts'
import { ensureDatabase, migrate } from '../packages/server/src/database/migrations/migrate.ts'

export interface Seed {
  databaseUrl: string
  boards: number
  /** Per board. */
  cards: number
  /** Called after each batch with the number of boards so far. */
  progress?: (boards: number) => void
}
/** A user to log in as, and the boards. The user owns the first board and is a member of seven more. */
export interface Seeded {
  user: { id: string; email: string; password: string }
  board_ids: string[]
}

const WORKERS = 2
const CARDS_IN_BATCH = 20_000
const MEMBERS = 8
/** The number of comments of each card. */
const COMMENTS = 2
/** The number of events in the log of each board. */
const EVENTS = 50
const DAY_MS = 86_400_000

/**
 * Fills a database with boards, a few in each transaction. The cards of these boards are interleaved in the tables, as when
 * teams work at the same time. A second run adds its own boards and users.
 */
export async function seedBoards({ databaseUrl, boards, cards, progress }: Seed): Promise<Seeded> {
  await ensureDatabase(databaseUrl)
  await migrate(databaseUrl)
  const clients = await Promise.all(Array.from({ length: WORKERS }, () => connect(databaseUrl)))
  const [client] = clients as [pg.Client]
  try {
    const { people, ...login } = await addPeople(client, Math.max(boards, MEMBERS))
    const size = Math.min(boards, Math.max(1, Math.round(CARDS_IN_BATCH / cards)))
    const batches = Array.from({ length: Math.ceil(boards / size) }, (_, i) => i)
    const began = Date.now() - 30 * DAY_MS
    const step = (29 * DAY_MS) / batches.length
    const board_ids: string[][] = []
    let done = 0
    const work = async (worker: pg.Client) => {
      for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
        const first = batch * size
        const count = Math.min(size, boards - first)
        const from = began + batch * step
        board_ids[batch] = await addBoards(worker, { first, count, cards, people, from, to: from + step })
        done += count
        progress?.(done)
      }
    }
    await Promise.all(clients.map(work))
    await client.query('analyze')
    return { user: login, board_ids: board_ids.flat() }
  } finally {
    await Promise.all(clients.map((each) => each.end()))
  }
}

/** Functions for time-ordered ids like those of the service, and temporary tables for a batch. */
const session = `
  set synchronous_commit = off;
  create function pg_temp.new_id(at timestamptz) returns uuid language sql volatile return overlay(overlay(overlay(
    md5(random()::text) placing lpad(to_hex(floor(extract(epoch from at) * 1000)::int8), 12, '0') from 1 for 12)
    placing '7' from 13 for 1) placing '8' from 17 for 1)::uuid;
  create function pg_temp.one_of(words text[]) returns text language sql volatile return
    words[1 + floor(random() * cardinality(words))::int];
  create temp table new_boards (nth int, id uuid, at timestamptz, people uuid[]) on commit delete rows;
  create temp table new_cards (board_id uuid, nth int, id uuid, checklist_id uuid, column_id uuid, labels uuid[], user_id uuid,
    title text, description text, at timestamptz(3), updated_at timestamptz(3)) on commit delete rows`

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(session)
  return client
}

/** All users share one password, because hashing one for each would take longer than everything else. */
async function addPeople(client: pg.Client, count: number) {
  const password = randomBytes(9).toString('base64url')
  const hashed_password = await new Passwords({ minLength: 1, maxLength: 1024, requires: [] }).hash(password)
  const { rows } = await client.query<{ id: string; email: string }>(
    `insert into users (id, email, email_key, username, username_key, hashed_password, firstname, lastname)
    select pg_temp.new_id(now() - interval '30 days'), name || '@example.com', name || '@example.com', name, name, $2, first, last
    from generate_series(1, $1) n
    cross join lateral (select ($3::text[])[1 + n % cardinality($3)] as first, ($4::text[])[1 + n % cardinality($4)] as last) as called
    cross join lateral (select lower(first || '.' || last) || '.' || $5 || n as name) as known
    returning id, email`,
    [count, hashed_password, words.first, words.last, `${randomBytes(3).toString('hex')}-`],
  )
  const [{ id, email }] = rows as [{ id: string; email: string }]
  return { id, email, password, people: rows.map((row) => row.id) }
}

interface Batch {
  /** The index of the first board in the run. */
  first: number
  count: number
  cards: number
  people: string[]
  from: number
  to: number
}
/** Inserts boards with all their content in one transaction. */
async function addBoards(client: pg.Client, { first, count, cards, people, from, to }: Batch): Promise<string[]> {
  const run = (text: string, values: unknown[] = []) => client.query<{ id: string }>(text, values)
  await run('begin')
  const { rows } = await run(
    `insert into new_boards select nth, pg_temp.new_id($3), $3,
      array(select ($4::uuid[])[1 + (nth + n) % cardinality($4::uuid[])] from generate_series(0, $5 - 1) n)
    from generate_series($1::int, $1 + $2 - 1) nth returning id`,
    [first, count, new Date(from), people, MEMBERS],
  )
  await run(
    `insert into boards (id, title, description, created_by, updated_by, created_at)
    select id, pg_temp.one_of($1) || ' ' || pg_temp.one_of($2), pg_temp.one_of($3), people[1], people[1], at from new_boards`,
    [words.team, words.plan, words.sentence],
  )
  await run(
    `insert into board_members (board_id, user_id, role, joined_at)
    select id, user_id, case nth_person when 1 then 'owner' else 'member' end, at + nth_person * interval '1 minute'
    from new_boards cross join unnest(people) with ordinality as person (user_id, nth_person)`,
  )
  await run(
    `insert into columns (board_id, id, title, color, is_done_column, rank)
    select id, pg_temp.new_id(at), title, '#6b7280', title = 'Done', n * $2::int8
    from new_boards cross join unnest($1::text[]) with ordinality as board_column (title, n)`,
    [words.column, GAP],
  )
  await run(
    `insert into labels (board_id, id, name, color, created_at)
    select id, pg_temp.new_id(at), name, '#' || substr(md5(name), 1, 6), at + n * interval '1 second'
    from new_boards cross join unnest($1::text[]) with ordinality as label (name, n)`,
    [words.label],
  )
  await run(addCards, [
    cards,
    new Date(from),
    to - from,
    EVENTS,
    ...[words.verb, words.adjective, words.noun, words.sentence],
  ])
  await run(
    `insert into cards (board_id, id, column_id, title, description, rank, number, due_on, comment_count, created_at, updated_at)
    select board_id, id, column_id, title, description, $1::int8 * (1 + nth / $2::int), nth,
      case when random() < 0.3 then current_date + floor(random() * 30)::int - 10 end, $3, at, updated_at from new_cards`,
    [GAP, words.column.length, COMMENTS],
  )
  await run(
    `insert into card_labels (board_id, card_id, label_id, added_at)
    select board_id, id, label_id, at + n * interval '1 second' from new_cards cross join unnest(labels) with ordinality as card_label (label_id, n)`,
  )
  await run(
    'insert into card_assignees (board_id, card_id, user_id, assigned_at) select board_id, id, user_id, at from new_cards',
  )
  await run(
    `insert into checklists (board_id, id, card_id, title, rank) select board_id, checklist_id, id, 'To do', $1 from new_cards`,
    [GAP],
  )
  await run(
    `insert into checklist_items (board_id, id, checklist_id, content, is_done, rank)
    select board_id, pg_temp.new_id(at), checklist_id, content, random() < 0.5, n * $2::int8
    from new_cards cross join unnest($1::text[]) with ordinality as item (content, n)`,
    [words.item, GAP],
  )
  await run(
    `insert into comments (board_id, id, card_id, author_id, body, created_at)
    select board_id, pg_temp.new_id(at), id, user_id, pg_temp.one_of($1), at + n * interval '1 minute'
    from new_cards cross join generate_series(1, $2::int) n`,
    [words.sentence, COMMENTS],
  )
  // Assign the first checklist item of every tenth card.
  await run(
    `insert into item_assignees (board_id, item_id, user_id, assigned_at)
    select item.board_id, item.id, card.user_id, card.at
    from new_cards card join checklist_items item on item.board_id = card.board_id and item.checklist_id = card.checklist_id
    where card.nth % 10 = 0 and item.rank = $1`,
    [GAP],
  )
  await run(
    `insert into automation_rules (board_id, id, name, trigger_type, trigger_label_id, action_type, action_column_id, is_enabled)
    select board.id, pg_temp.new_id(board.at), 'Blocked cards go back', 'LABEL_ADDED', label.id, 'MOVE_TO_COLUMN', target.id, true
    from new_boards board join labels label on label.board_id = board.id and label.name = 'blocked'
    join columns target on target.board_id = board.id and target.title = 'Backlog'`,
  )
  const log = { cards, kept: EVENTS }
  await client.query(addStreams.text, addStreams.values(log))
  await client.query(addEvents.text, addEvents.values(log))
  await run('commit')
  return rows.map((row) => row.id)
}

const addCards = `
  with board as materialized (
    select nth, id, people, array(select id from columns where board_id = new_boards.id order by rank) as column_ids,
      array(select id from labels where board_id = new_boards.id order by created_at) as label_ids
    from new_boards
  )
  insert into new_cards
  select board.id, n, pg_temp.new_id(at), pg_temp.new_id(at), column_ids[1 + n % cardinality(column_ids)],
    array[label_ids[1 + n % cardinality(label_ids)], label_ids[1 + (n + 1 + n / 7 % (cardinality(label_ids) - 1)) % cardinality(label_ids)]],
    people[1 + n % cardinality(people)],
    pg_temp.one_of($5) || ' the ' || pg_temp.one_of($6) || ' ' || pg_temp.one_of($7),
    case when random() < 0.8 then pg_temp.one_of($8) || ' ' || pg_temp.one_of($8) || ' See TICKET-' || floor(random() * 1e6)::int || '.' end,
    at, case when n > $1 - $4::int then at + interval '5 minutes' else at end
  from board cross join generate_series(1, $1::int) n
  cross join lateral (select $2::timestamptz + (n - 1 + random()) / $1 * $3::float8 * interval '1 millisecond' as at) as made
  order by n, random()`

/** The position of a board, as if everything had been created one by one. The log contains only the last events. */
const addStreams = statement(
  'seed_streams',
  (args: { cards: number }) => sql`
    insert into board_stream (board_id, last_seq, last_card_number)
    select id, 20 + 8 * ${args.cards}::int8, ${args.cards}::int8 from new_boards`,
)
const addEvents = statement(
  'seed_events',
  (args: { cards: number; kept: number }) => sql`
    insert into board_events (board_id, seq, created_at, type, user_id, card_id, body)
    select card.board_id, 20 + 8 * ${args.cards}::int8 - ${args.cards}::int + made.nth, card.updated_at, 'card.updated', made.user_id, card.id,
      '{"type":"card.updated","data":' || ${cardJson}::text || ',"user_id":"' || made.user_id || '","timestamp":"'
        || ${wireTime(sql`card.updated_at`)} || ${sql.lit(`","version":"${EVENT_VERSION}"}`)}
    from new_cards made join cards card on card.board_id = made.board_id and card.id = made.id
    where made.nth > ${args.cards}::int - ${args.kept}::int order by made.nth`,
)

const words = {
  first: ['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Frances', 'Tony', 'Margaret', 'Niklaus', 'Radia'],
  last: [
    'Lovelace',
    'Hopper',
    'Turing',
    'Dijkstra',
    'Liskov',
    'Knuth',
    'Allen',
    'Hoare',
    'Hamilton',
    'Wirth',
    'Perlman',
    'Lamport',
    'Kay',
  ],
  team: ['Mobile', 'Payments', 'Search', 'Platform', 'Growth', 'Support', 'Design', 'Data', 'Security', 'Marketing'],
  plan: ['roadmap', 'sprint', 'backlog', 'launch', 'migration', 'incidents', 'hiring', 'release 2', 'ideas'],
  column: ['Backlog', 'To do', 'In progress', 'Review', 'Done'],
  label: ['bug', 'feature', 'urgent', 'documentation', 'customer', 'debt', 'question', 'blocked'],
  item: ['Write the test', 'Make it pass', 'Tell the team'],
  verb: [
    'Fix',
    'Write',
    'Review',
    'Remove',
    'Measure',
    'Translate',
    'Design',
    'Document',
    'Speed up',
    'Replace',
    'Test',
    'Plan',
    'Discuss',
  ],
  adjective: [
    'new',
    'old',
    'slow',
    'broken',
    'weekly',
    'internal',
    'public',
    'first',
    'mobile',
    'missing',
    'quarterly',
    'automatic',
  ],
  noun: [
    'invoice',
    'login page',
    'onboarding',
    'export',
    'dashboard',
    'report',
    'pipeline',
    'newsletter',
    'search',
    'calendar',
    'backup',
    'payment form',
    'settings',
    'avatar',
    'webhook',
    'price list',
    'contract',
    'translation',
    'survey',
    'keyboard shortcut',
    'upload',
    'notification',
    'permission',
    'landing page',
    'importer',
    'crash on start',
    'time zone',
    'empty state',
    'café menu',
    'Straßenkarte',
  ],
  sentence: [
    'Customers keep asking for it.',
    'It worked before the last release, and nobody knows what changed.',
    'We agreed on this in the planning meeting; the notes are in the wiki.',
    'Only happens on Fridays, after the nightly job has run.',
    'Please check with legal before you start.',
    'The numbers look wrong when two people edit at once.',
    'Nice to have.',
    'A first draft is enough for now: what matters is that somebody can try it.',
    'Blocked until the other team has finished its part.',
    'Compare with what we did for the previous customer, and keep the wording.',
    'See the screenshot.',
    'Half a day, perhaps less.',
  ],
}
