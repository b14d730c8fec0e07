import type pg from 'pg'

/** Inserts a board with many cards, each with two labels, an assignee and a checklist of three items. */
export async function makeLargeBoard(sql: pg.Pool, memberIds: string[], cards: number): Promise<string> {
  const { rows } = await sql.query<{ id: string }>(
    `with board as (
      insert into boards (id, title, created_by, updated_by) values (gen_random_uuid(), 'Large', $1, $1) returning id
    ), stream as (insert into board_stream (board_id, last_card_number) select id, $3::int from board),
    members as (
      insert into board_members (board_id, user_id, role) select board.id, unnest($2::uuid[]), 'owner' from board
    ) select id from board`,
    [memberIds[0], memberIds, cards],
  )
  const { id } = rows[0] as { id: string }
  await sql.query(
    `with made_columns as (
      insert into columns (board_id, id, title, color, is_done_column, rank)
      select $1, gen_random_uuid(), 'Column ' || n, '#3d5a80', false, n from generate_series(0, 4) n returning id, rank
    ), made_labels as (
      insert into labels (board_id, id, name, color) select $1, gen_random_uuid(), 'Label ' || n, '#6a994e' from generate_series(0, 9) n
      returning id, name
    ), made_cards as (
      insert into cards (board_id, id, column_id, title, description, rank, number, created_at, updated_at)
      select $1, gen_random_uuid(), made_columns.id, 'Card ' || n, 'What is to be done, in a sentence or two: ' || md5(n::text), n, n, now(), now()
      from generate_series(1, $2::int) n join made_columns on made_columns.rank = n % 5 returning id, rank
    ), labelled as (
      insert into card_labels (board_id, card_id, label_id)
      select $1, made_cards.id, made_labels.id from made_cards join made_labels
        on made_labels.name in ('Label ' || made_cards.rank % 10, 'Label ' || (made_cards.rank + 1) % 10)
    ), assigned as (
      insert into card_assignees (board_id, card_id, user_id)
      select $1, made_cards.id, ($3::uuid[])[1 + made_cards.rank % cardinality($3::uuid[])] from made_cards
    ), made_lists as (
      insert into checklists (board_id, id, card_id, title, rank)
      select $1, gen_random_uuid(), made_cards.id, 'Steps', 0 from made_cards returning id
    )
    insert into checklist_items (board_id, id, checklist_id, content, rank)
    select $1, gen_random_uuid(), made_lists.id, 'Step ' || n, n from made_lists, generate_series(1, 3) n`,
    [id, cards, memberIds],
  )
  return id
}

/** Inserts boards with descriptions of 64 KiB, which hardly compress. */
export async function makeBoards(
  sql: pg.Pool,
  { owner_id, member_id }: { owner_id: string; member_id: string },
  count: number,
) {
  await sql.query(
    `with made as (
      insert into boards (id, title, description, created_by, updated_by, created_at)
      select gen_random_uuid(), 'Board ' || n, (select string_agg(md5(n || '-' || part), '') from generate_series(1, 2048) part), $1, $1,
        now() + n * interval '1 ms'
      from generate_series(1, $3::int) n returning id
    ), streams as (insert into board_stream (board_id) select id from made)
    insert into board_members (board_id, user_id, role)
    select id, $1::uuid, 'owner' from made union all select id, $2::uuid, 'member' from made`,
    [owner_id, member_id, count],
  )
}
