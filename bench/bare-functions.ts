import { setTimeout as pause } from 'node:timers/promises'
import { idOf } from '@lockstep/testing/load/seed'
import { sql } from 'kysely'
import pg from 'pg'
import { cardJson } from '../packages/server/src/cards/card-queries.ts'
import { itemJson } from '../packages/server/src/checklists/item-queries.ts'
import { commentJson } from '../packages/server/src/comments/comment-queries.ts'
import { statement } from '../packages/server/src/database/database.ts'
import { type OperationKey, operations } from './operations.ts'

/** The service's SQL for the JSON of a resource, so that the functions return and log the same text. */
const sqlOf = (name: string, json: typeof cardJson | typeof itemJson | typeof commentJson) =>
  /^select ([\s\S]*) as json/.exec(statement(`bench_${name}_json`, () => sql`select ${json}::text as json`).text)?.[1]
const [CARD, ITEM, COMMENT] = [sqlOf('card', cardJson), sqlOf('item', itemJson), sqlOf('comment', commentJson)]
const GAP = 2 ** 20

/** Locks the board, then authorizes the user, in the same order as the service. */
const LOCK_AND_AUTHORIZE = `
  select * into v_stream from board_stream where board_id = v_board for no key update;
  perform from users caller join board_members membership on membership.user_id = caller.id
    where caller.id = p_user and caller.is_active and membership.board_id = v_board and membership.role in ('owner', 'member');
  if not found then raise exception 'not a member'; end if;
  v_at := clock_timestamp();`
const FIND_BOARD = `
  select board_id into v_board from cards where id = p_card and column_id is not null;
  if not found then raise exception 'no such card'; end if;`
const appendEvent = (
  type: string,
  card: string,
  { subject = 'null', from = 'null', numbers = 0, data = 'v_json' } = {},
) => `
  if v_json is null then raise exception 'nothing changed'; end if;
  v_body := '{"type":"${type}","data":' || ${data} || ',"user_id":"' || p_user || '","timestamp":"' ||
    to_char(v_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '","version":"1.0"}';
  update board_stream set last_seq = last_seq + 1, last_card_number = last_card_number + ${numbers}, card_count = card_count + ${numbers},
    log_bytes = log_bytes + length(v_body), log_at = floor(extract(epoch from v_at) * 1000) where board_id = v_board;
  insert into board_events (board_id, seq, created_at, type, user_id, subject_id, from_id, card_id, body)
  values (v_board, v_stream.last_seq + 1, v_at, '${type}', p_user, ${subject}, ${from}, ${card}, v_body);
  return v_json;`

const createFunction = (name: string, args: string, body: string) => `
  create or replace function ${name}(p_user uuid, ${args}) returns text language plpgsql as $body$
  declare v_board uuid; v_stream board_stream; v_at timestamptz(3); v_json text; v_body text; v_rank int8; v_from uuid; v_card uuid;
    v_count int4;
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
    ${appendEvent('card.created', 'p_id', { numbers: 1 })}`,
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
  createFunction(
    'bare_assign_card',
    'p_card uuid, p_assignee uuid',
    `${FIND_BOARD} ${LOCK_AND_AUTHORIZE}
    perform from board_members where board_id = v_board and user_id = p_assignee;
    if not found then raise exception 'no such member'; end if;
    insert into card_assignees (board_id, card_id, user_id) values (v_board, p_card, p_assignee);
    update cards card set updated_at = v_at where board_id = v_board and id = p_card returning ${CARD} into v_json;
    if p_assignee <> p_user then
      insert into inbox_items as item (user_id, id, board_id, subject_id, card_id, reason, count, actor_id, changed_at)
      values (p_assignee, gen_random_uuid(), v_board, p_card, p_card, 'assigned', 1, p_user, v_at)
      on conflict (user_id, board_id, subject_id) do update set count = item.count + 1, actor_id = excluded.actor_id, changed_at = excluded.changed_at;
    end if;
    ${appendEvent('card.assigned', 'p_card', { subject: 'p_assignee' })}`,
  ),
  createFunction(
    'bare_add_comment',
    'p_card uuid, p_id uuid, p_text text',
    `${FIND_BOARD} ${LOCK_AND_AUTHORIZE}
    update cards set comment_count = comment_count + 1 where board_id = v_board and id = p_card returning comment_count into v_count;
    insert into comments as comment (board_id, id, card_id, author_id, body, created_at) values (v_board, p_id, p_card, p_user, p_text, v_at)
    returning ${COMMENT} into v_json;
    ${appendEvent('comment.created', 'p_card', { data: `left(v_json, -1) || ',"comment_count":' || v_count || '}'` })}`,
  ),
  createFunction(
    'bare_tick_item',
    'p_item uuid, p_is_done boolean',
    `select item.board_id, checklist.card_id into v_board, v_card from checklist_items item
      join checklists checklist on checklist.board_id = item.board_id and checklist.id = item.checklist_id
      join cards card on card.board_id = checklist.board_id and card.id = checklist.card_id
      where item.id = p_item and card.column_id is not null;
    if not found then raise exception 'no such item'; end if;
    ${LOCK_AND_AUTHORIZE}
    update checklist_items item set is_done = p_is_done where board_id = v_board and id = p_item and is_done <> p_is_done
    returning ${ITEM} into v_json;
    ${appendEvent('checklist_item.updated', 'v_card')}`,
  ),
]

/** Calls of PL/pgSQL functions that do the same work as a write of the service, in one round trip each. */
export class BareFunctions {
  private readonly clients: pg.Client[] = []
  private readonly boards: number
  private readonly sent: Partial<Record<OperationKey, number>> = {}
  private constructor(boards: number) {
    this.boards = boards
  }

  static async create(url: string, { connections, boards }: { connections: number; boards: number }) {
    const bare = new BareFunctions(boards)
    for (let i = 0; i < connections; i++) {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      bare.clients.push(client)
    }
    for (const text of FUNCTIONS) await bare.clients[0]?.query(text)
    return bare
  }

  /**
   * Calls the function of an operation on all connections, for a time and at a rate. Returns how often. At a higher rate, calls would
   * share more flushes of the log and find warmer caches.
   */
  async run(key: OperationKey, ms: number, perSecond: number): Promise<number> {
    const before = this.sent[key] ?? 0
    const startedAt = performance.now()
    const callOnly = async (client: pg.Client) => {
      while (performance.now() < startedAt + ms) {
        const nth = this.sent[key] ?? 0
        this.sent[key] = nth + 1
        const wait = startedAt + ((nth - before) / perSecond) * 1_000 - performance.now()
        if (wait > 0) await pause(wait)
        const { user, call } = operations[key].write(nth, this.boards)
        const [name, ...values] = call
        const parameters = call.map((_, i) => `$${i + 1}`).join(', ')
        const text = `select ${name}(${parameters}) as json`
        await client.query({ name, text, values: [idOf('user', user), ...values] })
      }
    }
    await Promise.all(this.clients.map(callOnly))
    return (this.sent[key] ?? 0) - before
  }

  end = () => Promise.all(this.clients.map((client) => client.end()))
}
