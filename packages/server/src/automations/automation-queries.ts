import type { AutomationRule, AutomationRun } from '@lockstep/contract/automations'
import type { JsonText } from '@lockstep/contract/operation'
import { type RawBuilder, sql } from 'kysely'
import { insertStatement, patchStatement, type ResourceRow, readStatement } from '../core/resource-statements.ts'
import { BATCH_ROWS, inBatches } from '../database/batches.ts'
import { type Db, type ResourceKey, statement, wireTime } from '../database/database.ts'
import { idCursor, isLater, isLess, type ListedRow, type Page, timeCursor } from '../database/keyset.ts'

/** A rule, of the row `rule` of the table `automation_rules`. */
const ruleFields = sql`rule.id, rule.board_id, rule.name, rule.trigger_type, rule.trigger_column_id, rule.trigger_label_id,
  rule.action_type, rule.action_column_id, rule.action_user_id, rule.is_enabled`
const ruleJson = sql<AutomationRule>`(select row_to_json(fields) from (select ${ruleFields}) fields)`

const insert = insertStatement<AutomationRule, AutomationRule>('rule', ruleJson)
export async function insertRule(db: Db, rule: AutomationRule): Promise<JsonText<AutomationRule>> {
  const [row] = await db.run(insert, rule)
  return (row as ResourceRow<AutomationRule>).json
}

const list = statement(
  'list_rules',
  (args: { board_id: string } & Page) => sql<ListedRow<AutomationRule>>`
    select ${ruleJson}::text as json, ${timeCursor(sql`rule.created_at`, sql`rule.id`)} as cursor
    from automation_rules rule
    where rule.board_id = ${args.board_id} and ${isLater(sql`rule.created_at`, sql`rule.id`, args)}
    order by rule.created_at, rule.id limit ${args.limit}`,
)
/** A page of the rules of a board, oldest first. */
export const listRules = (db: Db, board_id: string, page: Page) => db.run(list, { board_id, ...page })

const read = readStatement('rule', ruleJson)
/** Undefined when the board has no such rule. */
export const readRule = async (db: Db, key: ResourceKey) => (await db.run(read, key))[0]?.json

const update = patchStatement('rule', ruleJson)
/** The rule after the change; undefined when nothing changed. */
export const updateRule = async (db: Db, key: ResourceKey, changes: object) =>
  (await db.run(update, { ...key, changes: JSON.stringify(changes), stamp: null }))[0]?.json

const remove = statement('delete_rule', (args: ResourceKey, query) =>
  query.deleteFrom('automation_rules').where('board_id', '=', args.board_id).where('id', '=', args.id),
)
export const deleteRule = async (db: Db, key: ResourceKey) => void (await db.run(remove, key))

/** What happened to a card, in the terms of rules. */
export interface Trigger {
  board_id: string
  type: 'CARD_MOVED' | 'LABEL_ADDED'
  column_id: string | null
  label_id: string | null
}
const match = statement(
  'match_rules',
  (args: Trigger) => sql<AutomationRule>`
    select ${ruleFields} from automation_rules rule
    where rule.board_id = ${args.board_id} and rule.is_enabled and rule.trigger_type = ${args.type}
      and case rule.trigger_type
        when 'CARD_MOVED' then rule.trigger_column_id = ${args.column_id}::uuid
        else rule.trigger_label_id = ${args.label_id}::uuid end
      and case rule.action_type
        when 'MOVE_TO_COLUMN' then rule.action_column_id is not null
        else rule.action_user_id is not null end
    order by rule.created_at, rule.id`,
)
/** Whether the trigger starts a rule. `target_id` is the column or the label. */
export const startsRule = (type: Trigger['type'], board_id: RawBuilder<unknown>, target_id: RawBuilder<unknown>) =>
  sql<boolean>`exists (select from automation_rules rule where rule.board_id = ${board_id} and rule.is_enabled
    and rule.trigger_type = ${sql.lit(type)}
    and ${type === 'CARD_MOVED' ? sql`rule.trigger_column_id` : sql`rule.trigger_label_id`} = ${target_id})`

/** The enabled rules that the trigger starts, oldest first. A rule without its column, label or user matches nothing. */
export const matchRules = (db: Db, trigger: Trigger): Promise<AutomationRule[]> => db.run(match, trigger)

const disable = statement(
  'disable_broken_rules',
  (args: { board_id: string }) => sql`
    update automation_rules set is_enabled = false where board_id = ${args.board_id} and is_enabled and (
      (trigger_type = 'CARD_MOVED' and trigger_column_id is null) or (trigger_type = 'LABEL_ADDED' and trigger_label_id is null)
      or (action_type = 'MOVE_TO_COLUMN' and action_column_id is null) or (action_type = 'ASSIGN_MEMBER' and action_user_id is null))`,
)
/** Disables rules whose column, label or member no longer exists. */
export const disableBrokenRules = async (db: Db, board_id: string) => void (await db.run(disable, { board_id }))

interface NewRun {
  board_id: string
  id: string
  rule_id: string
  rule_name: string
  card_id: string
  cause_seq: number
  outcome: AutomationRun['outcome']
  at: string
}
const insertOne = statement(
  'insert_run',
  (args: NewRun) => sql`
    insert into automation_runs (board_id, id, rule_id, rule_name, card_id, cause_seq, outcome, created_at)
    values (${args.board_id}, ${args.id}, ${args.rule_id}, ${args.rule_name}, ${args.card_id}, ${args.cause_seq}, ${args.outcome}, ${args.at})`,
)
export const insertRun = async (db: Db, run: NewRun) => void (await db.run(insertOne, run))

const runs = statement(
  'list_runs',
  (args: { board_id: string } & Page) => sql<ListedRow<AutomationRun>>`
    select ${idCursor(sql`run.id`)} as cursor, (select row_to_json(fields) from (select run.id, run.rule_id, run.rule_name, run.card_id, run.cause_seq,
      run.outcome, ${wireTime(sql`run.created_at`)} as created_at) fields)::text as json
    from automation_runs run where run.board_id = ${args.board_id} and ${isLess(sql`run.id`, args)}
    order by run.id desc limit ${args.limit}`,
)
/** A page of the runs of a board, newest first. */
export const listRuns = (db: Db, board_id: string, page: Page) => db.run(runs, { board_id, ...page })

interface ReferenceCounts {
  columns: number
  labels: number
  rules: number
}
const references = statement(
  'find_rule_references',
  (args: { board_id: string; column_ids: string[]; label_ids: string[] }) => sql<ReferenceCounts>`
    select (select count(*) from columns where board_id = ${args.board_id} and id = any (${args.column_ids}::uuid[])) as columns,
      (select count(*) from labels where board_id = ${args.board_id} and id = any (${args.label_ids}::uuid[])) as labels,
      (select count(*) from automation_rules where board_id = ${args.board_id}) as rules`,
)
/** How many of these columns and labels belong to the board, and how many rules the board has. */
export async function countReferences(db: Db, board_id: string, column_ids: string[], label_ids: string[]) {
  return (await db.run(references, { board_id, column_ids, label_ids }))[0] as ReferenceCounts
}

const removeOld = statement(
  'delete_old_runs',
  (args: { days: number }) => sql<{ id: string }>`
    delete from automation_runs where ctid in (
      select ctid from automation_runs where created_at < now() - make_interval(days => ${args.days}) order by created_at limit ${sql.lit(BATCH_ROWS)})
    returning id`,
)
/** Deletes runs older than the retention of events. Returns how many. */
export const deleteExpiredRuns = (db: Db, days: number): Promise<number> => inBatches(() => db.run(removeOld, { days }))
