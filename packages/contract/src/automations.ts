import Type, { type Static } from 'typebox'
import {
  Changes,
  member,
  NewId,
  Nullable,
  named,
  nothing,
  Optional,
  operation,
  owner,
  PAGING_DAY,
  Paging,
  Timestamp,
  Title,
  Uuid,
} from './operation.ts'
import { create, remove, update } from './resources.ts'

const TriggerType = Type.Enum(['CARD_CREATED', 'CARD_MOVED', 'LABEL_ADDED'])
const ActionType = Type.Enum(['MOVE_TO_COLUMN', 'ASSIGN_MEMBER'])

const shape = Type.Object({
  id: Uuid,
  board_id: Uuid,
  name: Type.String(),
  trigger_type: TriggerType,
  trigger_column_id: Nullable(Uuid),
  trigger_label_id: Nullable(Uuid),
  action_type: ActionType,
  action_column_id: Nullable(Uuid),
  action_user_id: Nullable(Uuid),
  is_enabled: Type.Boolean(),
})
export interface AutomationRule extends Static<typeof shape> {}
export const AutomationRule = named<AutomationRule>('AutomationRule', shape)

const runShape = Type.Object({
  id: Uuid,
  rule_id: Uuid,
  rule_name: Type.String({ description: 'The name of the rule at the time of the run.' }),
  card_id: Uuid,
  cause_seq: Type.Integer({ minimum: 1, description: 'The sequence number of the event that triggered the run.' }),
  outcome: Type.Enum(['moved', 'assigned', 'already_there', 'already_assigned', 'failed']),
  created_at: Timestamp,
})
/** A run of a rule, with its outcome. */
export interface AutomationRun extends Static<typeof runShape> {}
export const AutomationRun = named<AutomationRun>('AutomationRun', runShape)

/** One change may trigger every rule of its board, and all other changes of the board wait for it. */
export const MAX_RULES = 100

const BoardPath = Type.Object({ board_id: Uuid })
const RulePath = Type.Object({ rule_id: Uuid })
const missing = ['column_not_found', 'label_not_found', 'user_not_found', 'user_not_a_member'] as const

export const automationOperations = {
  createRule: operation({
    method: 'POST',
    path: '/boards/{board_id}/automations',
    tag: 'automations',
    summary: 'Create an automation rule',
    description:
      'The column, label and user of a rule must belong to the board. A rule without the one that its trigger or action needs is accepted, and matches nothing. A board has at most 100 rules.',
    access: owner('board'),
    params: BoardPath,
    body: Type.Object({
      ...NewId,
      name: Title,
      trigger_type: TriggerType,
      trigger_column_id: Optional(Uuid),
      trigger_label_id: Optional(Uuid),
      action_type: ActionType,
      action_column_id: Optional(Uuid),
      action_user_id: Optional(Uuid),
      is_enabled: Optional(Type.Boolean(), true),
    }),
    returns: { status: 201, schema: AutomationRule },
    effect: create('rule'),
    emits: [],
    problems: [...missing, 'too_many_rules', 'id_taken'],
  }),
  listRules: operation({
    method: 'GET',
    path: '/boards/{board_id}/automations',
    tag: 'automations',
    summary: 'List the automation rules of a board',
    description: 'Oldest first. Disabled rules are listed too.',
    access: member('board'),
    params: BoardPath,
    query: Type.Object(Paging()),
    returns: { status: 200, schema: Type.Array(AutomationRule) },
  }),
  updateRule: operation({
    method: 'PATCH',
    path: '/automations/{rule_id}',
    tag: 'automations',
    summary: 'Change an automation rule',
    description: 'Only the fields that are sent are validated, so a rule can always be renamed, enabled or disabled.',
    access: owner('rule'),
    params: RulePath,
    body: Changes({
      name: Title,
      trigger_type: TriggerType,
      trigger_column_id: Nullable(Uuid),
      trigger_label_id: Nullable(Uuid),
      action_type: ActionType,
      action_column_id: Nullable(Uuid),
      action_user_id: Nullable(Uuid),
      is_enabled: Type.Boolean(),
    }),
    returns: { status: 200, schema: AutomationRule },
    effect: update('rule'),
    emits: [],
    problems: missing,
  }),
  deleteRule: operation({
    method: 'DELETE',
    path: '/automations/{rule_id}',
    tag: 'automations',
    summary: 'Delete an automation rule',
    description: 'Its runs stay in the list of runs.',
    access: owner('rule'),
    params: RulePath,
    returns: nothing,
    effect: remove('rule'),
    emits: [],
  }),
  listRuns: operation({
    method: 'GET',
    path: '/boards/{board_id}/automation-runs',
    tag: 'automations',
    summary: 'List the runs of automation rules of a board, newest first',
    description: '`Link` is the next page, with older runs.',
    access: member('board'),
    params: BoardPath,
    query: Type.Object({
      before: Type.Optional(
        Type.String({ format: 'uuid', description: 'Deprecated, use `cursor`: the last run of the previous page.' }),
      ),
      ...Paging({ default: 50, maximum: 200 }),
    }),
    deprecated: { before: PAGING_DAY },
    returns: { status: 200, schema: Type.Array(AutomationRun) },
  }),
}
