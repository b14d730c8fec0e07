import type pg from 'pg'

const FIRST =
  'Ada Alan Anna Ben Carla Chen Dana David Elena Emil Fatima Felix Grace Hana Hugo Ines Ivan Jana John Julia Karl Lea Lin Luis Maria Marta Max Mia Nina Noah Olga Omar Paul Petra Quentin Rosa Sam Sara Tom Uma Vera Victor Wei Xenia Yusuf Zoe'
const COMMON = 'Mueller Schmidt Smith Johansson Garcia Rossi Kowalski Nguyen Silva Martin Novak Ivanov Kim Chen Tanaka'
const SYLLABLES =
  'ba ber bon cha dal del dor fal fen gar gro hal hen jor kal ken kra lan len lor mal men mor nal nes nor pal pen ral ren ros sal sen ster tal ten tor val ven vor wal wen wick wil win zan zen'

/** A value of a list by a hash of the row's number, so that every run makes the same rows. */
const pick = (list: string, salt: string) => {
  const words = list.split(' ')
  return `(array['${words.join("','")}'])[1 + (hashtext(n || '${salt}') & 2147483647) % ${words.length}]`
}

/**
 * Adds accounts with names as people have: a third of the last names are common, every twentieth username starts with `zentrale-`, two thirds of
 * the addresses share a domain.
 */
export async function fillAccounts(sql: pg.Pool, count: number) {
  const insert = `
    insert into users (id, email, email_key, username, username_key, hashed_password, firstname, lastname, is_active, created_at)
    select gen_random_uuid(), email, lower(email), username, lower(username), repeat('x', 97), firstname, lastname, n % 50 <> 0,
      now() - (n % 1000) * interval '1 day'
    from (
      select n, firstname, lastname, case when n % 20 = 0 then 'zentrale-' || n when n % 3 = 0 then firstname || '.' || lastname || n
        when n % 3 = 1 then left(firstname, 1) || lastname || n else lastname || '_' || firstname || n end as username,
        firstname || '.' || lastname || n || '@' || case when n % 3 = 0 then 'mail' || n % 40 || '.test' else 'example.com' end as email
      from (
        select n, ${pick(FIRST, 'first')} as firstname,
          case when n % 3 = 0 then ${pick(COMMON, 'common')}
            else initcap(${pick(SYLLABLES, 'a')} || ${pick(SYLLABLES, 'b')} || ${pick(SYLLABLES, 'c')}) end as lastname
        from (select (select count(*) from users) + n as n from generate_series(1, ${count}) n) numbers
      ) people
    ) made`
  await withoutIndexes(sql, 'users', insert)
}

/** Adds boards, each with a few members of all accounts. The first account is on `busy` of them with 60 others each. */
export async function fillBoards(sql: pg.Pool, count: number, busy: number): Promise<string> {
  await sql.query(`
    create table numbered_users as select id, row_number() over (order by username_key) - 1 as n from users where is_active;
    create unique index on numbered_users (n);
    create table numbered_boards as select gen_random_uuid() as id, n from generate_series(0, ${count - 1}) n;
    create unique index on numbered_boards (n);
    insert into boards (id, title, created_by, updated_by)
      select board.id, 'Board ' || board.n, owner.id, owner.id
      from numbered_boards board join numbered_users owner on owner.n = board.n % (select count(*) from numbered_users);
    insert into board_stream (board_id, text_bytes, card_count, file_bytes, last_card_number) select id, 0, 0, 0, 0 from numbered_boards;
    insert into board_members (board_id, user_id, role)
      select board.id, member.id, 'member'
      from numbered_boards board
      cross join lateral generate_series(1, case when board.n < ${busy} then 60 else 5 end) nth
      join numbered_users member on member.n = 1 + (board.n * 31 + nth * 7919) % ((select count(*) from numbered_users) - 1)
      on conflict do nothing;
    insert into board_members (board_id, user_id, role)
      select board.id, caller.id, 'owner' from numbered_boards board join numbered_users caller on caller.n = 0 where board.n < ${busy};
    analyze boards, board_members, board_stream`)
  const { rows } = await sql.query<{ id: string }>('select id from numbered_users where n = 0')
  return (rows[0] as { id: string }).id
}

/**
 * Adds events of the boards of `fillBoards`, in the order of their time over 80 days. Every twentieth is about a comment.
 */
export async function fillEvents(sql: pg.Pool, perBoard: number) {
  const { rows } = await sql.query<{ count: number }>('select count(*)::int as count from numbered_boards')
  const boards = rows[0]?.count ?? 0
  // One event of each board after the other.
  const insertRound = (seq: number) => `
    insert into board_events (board_id, seq, created_at, type, user_id, subject_id, card_id, body)
    select board.id, ${seq}, now() - interval '80 days' * (1 - (${(seq - 1) * boards} + board.n) / ${perBoard * boards}.0), kind.type,
      board.id, null, card.id,
      '{"type":"' || kind.type || '","data":{"id":"' || card.id || '","text":"' || repeat(md5('${seq}-' || board.n), 15) || '"},"user_id":null,"version":"1.0"}'
    from numbered_boards board
    cross join lateral (select md5(board.n || 'card${seq % 20}')::uuid as id) card
    cross join lateral (select case when (${seq * 7} + board.n) % 500 = 0 then 'board.member_removed'
      when (${seq} + board.n) % 20 = 0 then 'comment.created' else 'card.updated' end as type) kind`
  const rounds = Array.from({ length: perBoard }, (_, i) => insertRound(i + 1))
  await withoutIndexes(sql, 'board_events', rounds.join(';'))
  await sql.query(
    `update board_stream set last_seq = ${perBoard}, last_card_number = 20, card_count = 20 where board_id in (select id from numbered_boards)`,
  )
  await sql.query('vacuum analyze board_stream')
}

/** Makes the indexes of a table after its rows, which is many times faster. */
async function withoutIndexes(sql: pg.Pool, table: string, insert: string) {
  const { rows } = await sql.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where indrelid = $1::regclass and not indisunique`,
    [table],
  )
  await sql.query(`
    set maintenance_work_mem = '512MB';
    ${rows.map(({ name }) => `drop index ${name};`).join('\n')}
    ${insert};
    ${rows.map(({ definition }) => `${definition};`).join('\n')}
    reset maintenance_work_mem`)
  await sql.query(`vacuum analyze ${table}`)
}
