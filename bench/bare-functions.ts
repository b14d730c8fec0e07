import { sql } from 'kysely'
import type pg from 'pg'
import { cardJson } from '../packages/server/src/cards/card-queries.ts'
import { statement } from '../packages/server/src/database/database.ts'

/** The service's SQL for the JSON of a card, so that the functions return and log the same text. */
const CARD = /^select ([\s\S]*) as json/.exec(
  statement('bench_card_json', () => sql`select ${cardJson}::text as json`).text,
)?.[1]
const GAP = 2 ** 20

/** Locks the board, then authorizes the user, in the same order as the service. */
const LOCK_AND_AUTHORIZE = `
  select * into v_stream from board_stream where board_id = v_board for no key update;
  perform from users caller join board_members membership on membership.user_id = caller.id
    where caller.id = p_user and caller.is_active and membership.board_id = v_board and membership.role in ('owner', 'member');
  if not found then raise exception 'not a member'; end if;
  v_at := clock_timestamp();`
const FIND_BOARD = `
  select board_id into v_board from cards where id = p_card;
  if not found then raise exception 'no such card'; end if;`
const appendEvent = (type: string, card: string, ids: { subject?: string; from?: string; number?: number } = {}) => `
  if v_json is null then raise exception 'nothing changed'; end if;
  update board_stream set last_seq = last_seq + 1, last_card_number = last_card_number + ${ids.number ?? 0} where board_id = v_board;
  insert into board_events (board_id, seq, created_at, type, user_id, subject_id, from_id, card_id, body)
  values (v_board, v_stream.last_seq + 1, v_at, '${type}', p_user, ${ids.subject ?? 'null'}, ${ids.from ?? 'null'}, ${card},
    '{"type":"${type}","data":' || v_json || ',"user_id":"' || p_user || '","timestamp":"' ||
    to_char(v_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '","version":"1.0"}');
  return v_json;`

const createFunction = (name: string, args: string, body: string) => `
  create or replace function ${name}(p_user uuid, ${args}) returns text language plpgsql as $body$
  declare v_board uuid; v_stream board_stream; v_at timestamptz(3); v_json text; v_rank int8; v_from uuid;
  begin ${body}
  end $body$;`

const FUNCTIONS = [
  createFunction(
    'bare_create_card',
    'p_board uuid, p_column uuid, p_id uuid, p_title text, p_description text',
    `v_board := p_board; ${LOCK_AND_AUTHORIZE}
    perform from columns where board_id = v_board and id = p_column;
    if not found then raise exception 'no such column'; end if;
    select rank into v_rank from cards where board_id = v_board and column_id = p_column order by rank desc limit 1;
    insert into cards as card (board_id, id, column_id, title, description, rank, number, created_at, updated_at)
    values (v_board, p_id, p_column, p_title, p_description, coalesce(v_rank, 0) + ${GAP}, v_stream.last_card_number + 1, v_at, v_at) returning ${CARD} into v_json;
    ${appendEvent('card.created', 'p_id', { number: 1 })}`,
  ),
  createFunction(
    'bare_move_card',
    'p_card uuid, p_column uuid',
    `${FIND_BOARD} ${LOCK_AND_AUTHORIZE}
    select column_id into v_from from cards where board_id = v_board and id = p_card;
    perform from columns where board_id = v_board and id = p_column;
    if not found then raise exception 'no such column'; end if;
    select rank into v_rank from cards where board_id = v_board and column_id = p_column and id <> p_card order by rank limit 1;
    update cards card set column_id = p_column, rank = coalesce(v_rank, 0) - ${GAP}, updated_at = v_at
    where board_id = v_board and id = p_card returning ${CARD} into v_json;
    perform from automation_rules where board_id = v_board and is_enabled and trigger_type = 'CARD_MOVED' and trigger_column_id = p_column;
    ${appendEvent('card.moved', 'p_card', { from: 'v_from' })}`,
  ),
  createFunction(
    'bare_patch_card',
    'p_card uuid, p_title text',
    `${FIND_BOARD} ${LOCK_AND_AUTHORIZE}
    update cards card set title = p_title, updated_at = v_at where board_id = v_board and id = p_card and title <> p_title
    returning ${CARD} into v_json;
    ${appendEvent('card.updated', 'p_card')}`,
  ),
  createFunction(
    'bare_add_label',
    'p_card uuid, p_label uuid',
    `${FIND_BOARD} ${LOCK_AND_AUTHORIZE}
    perform from labels where board_id = v_board and id = p_label;
    if not found then raise exception 'no such label'; end if;
    insert into card_labels (board_id, card_id, label_id) values (v_board, p_card, p_label);
    update cards card set updated_at = v_at where board_id = v_board and id = p_card returning ${CARD} into v_json;
    perform from automation_rules where board_id = v_board and is_enabled and trigger_type = 'LABEL_ADDED' and trigger_label_id = p_label;
    ${appendEvent('card.labeled', 'p_card', { subject: 'p_label' })}`,
  ),
]

/** Creates a PL/pgSQL function for each kind of write: the same work in one round trip, without the service. */
export async function createBareFunctions(pool: pg.Pool) {
  for (const text of FUNCTIONS) await pool.query(text)
}
