import { sql } from 'kysely'
import type pg from 'pg'
import { cardJson } from '../packages/server/src/cards/card-queries.ts'
import { statement } from '../packages/server/src/database/database.ts'

/** The service's own form of a card, so that the functions answer and log the same text. */
const CARD = /^select ([\s\S]*) as json/.exec(
  statement('bench_card_json', () => sql`select ${cardJson}::text as json`).text,
)?.[1]
const GAP = 2 ** 20

/** The lock, then who asks: as the service does it, in this order. */
const ENTER = `
  select * into v_stream from board_stream where board_id = v_board for no key update;
  perform from users caller join board_members membership on membership.user_id = caller.id
    where caller.id = p_user and caller.is_active and membership.board_id = v_board and membership.role in ('owner', 'member');
  if not found then raise exception 'refused'; end if;
  v_at := clock_timestamp();`
const FIND_BOARD = `
  select board_id into v_board from cards where id = p_card;
  if not found then raise exception 'no such card'; end if;`
const log = (type: string, aside: { subject?: string; from?: string } = {}) => `
  if v_shown is null then raise exception 'nothing changed'; end if;
  update board_stream set last_seq = last_seq + 1 where board_id = v_board;
  insert into board_events (board_id, seq, created_at, type, user_id, subject_id, from_id, body)
  values (v_board, v_stream.last_seq + 1, v_at, '${type}', p_user, ${aside.subject ?? 'null'}, ${aside.from ?? 'null'},
    '{"type":"${type}","data":' || v_shown || ',"user_id":"' || p_user || '","timestamp":"' ||
    to_char(v_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '","version":"1.0"}');
  return v_shown;`

const make = (name: string, args: string, body: string) => `
  create or replace function ${name}(p_user uuid, ${args}) returns text language plpgsql as $body$
  declare v_board uuid; v_stream board_stream; v_at timestamptz(3); v_shown text; v_rank int8; v_from uuid;
  begin ${body}
  end $body$;`

const FUNCTIONS = [
  make(
    'bare_create_card',
    'p_board uuid, p_column uuid, p_id uuid, p_title text, p_description text',
    `v_board := p_board; ${ENTER}
    perform from columns where board_id = v_board and id = p_column;
    if not found then raise exception 'no such column'; end if;
    select rank into v_rank from cards where board_id = v_board and column_id = p_column order by rank desc limit 1;
    insert into cards as card (board_id, id, column_id, title, description, rank, created_at, updated_at)
    values (v_board, p_id, p_column, p_title, p_description, coalesce(v_rank, 0) + ${GAP}, v_at, v_at) returning ${CARD} into v_shown;
    ${log('card.created')}`,
  ),
  make(
    'bare_move_card',
    'p_card uuid, p_column uuid',
    `${FIND_BOARD} ${ENTER}
    select column_id into v_from from cards where board_id = v_board and id = p_card;
    perform from columns where board_id = v_board and id = p_column;
    if not found then raise exception 'no such column'; end if;
    select rank into v_rank from cards where board_id = v_board and column_id = p_column and id <> p_card order by rank limit 1;
    update cards card set column_id = p_column, rank = coalesce(v_rank, 0) - ${GAP}, updated_at = v_at
    where board_id = v_board and id = p_card returning ${CARD} into v_shown;
    perform from automation_rules where board_id = v_board and is_enabled and trigger_type = 'CARD_MOVED' and trigger_column_id = p_column;
    ${log('card.moved', { from: 'v_from' })}`,
  ),
  make(
    'bare_patch_card',
    'p_card uuid, p_title text',
    `${FIND_BOARD} ${ENTER}
    update cards card set title = p_title, updated_at = v_at where board_id = v_board and id = p_card and title <> p_title
    returning ${CARD} into v_shown;
    ${log('card.updated')}`,
  ),
  make(
    'bare_add_label',
    'p_card uuid, p_label uuid',
    `${FIND_BOARD} ${ENTER}
    perform from labels where board_id = v_board and id = p_label;
    if not found then raise exception 'no such label'; end if;
    insert into card_labels (board_id, card_id, label_id) values (v_board, p_card, p_label);
    update cards card set updated_at = v_at where board_id = v_board and id = p_card returning ${CARD} into v_shown;
    perform from automation_rules where board_id = v_board and is_enabled and trigger_type = 'LABEL_ADDED' and trigger_label_id = p_label;
    ${log('card.labeled', { subject: 'p_label' })}`,
  ),
]

/** Each kind of write as one function on the server: the least that PostgreSQL itself can do the work with. */
export async function makeFunctions(sql: pg.Pool) {
  for (const text of FUNCTIONS) await sql.query(text)
}
