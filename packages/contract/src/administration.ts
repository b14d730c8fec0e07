import Type, { type Static } from 'typebox'
import { Password } from './auth.ts'
import { Changes, Message, Nullable, named, nothing, operation, Text, Timestamp, Uuid } from './operation.ts'

const accountShape = Type.Object({
  id: Uuid,
  email: Type.String(),
  username: Type.String(),
  firstname: Nullable(Type.String()),
  lastname: Nullable(Type.String()),
  is_active: Type.Boolean(),
  is_verified: Type.Boolean(),
  is_superuser: Type.Boolean(),
  created_at: Timestamp,
  erased_at: Nullable(Timestamp),
})
/** A user as a superuser sees him. */
export interface Account extends Static<typeof accountShape> {}
export const Account = named<Account>('Account', accountShape)

const actionShape = Type.Object({
  id: Type.Integer(),
  at: Timestamp,
  actor_id: Nullable(Uuid),
  operator: Nullable(Type.String()),
  action: Type.String(),
  target_id: Nullable(Uuid),
  details: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
})
/** An entry of the audit log: a superuser (`actor_id`) or somebody at the command line (`operator`) did it. */
export interface AdminAction extends Static<typeof actionShape> {}
export const AdminAction = named<AdminAction>('AdminAction', actionShape)

const Count = Type.Integer({ minimum: 0 })
const statisticsShape = Type.Object({
  users: Type.Object({ active: Count, inactive: Count, superusers: Count, erased: Count }),
  boards: Count,
  cards: Count,
  events: Type.Object({ count: Count, oldest_at: Nullable(Timestamp) }),
  attachments: Type.Object({ count: Count, bytes: Count }),
  database_bytes: Count,
  days: Type.Array(Type.Object({ date: Type.String(), users: Count, boards: Count, cards: Count, events: Count })),
})
/** How much there is, and what was new on each of the last seven days (UTC), the newest first. */
export interface Statistics extends Static<typeof statisticsShape> {}
export const Statistics = named<Statistics>('Statistics', statisticsShape)

const exportShape = Type.Object({
  exported_at: Timestamp,
  profile: Account,
  memberships: Type.Array(
    Type.Object({ board_id: Uuid, title: Type.String(), role: Type.String(), joined_at: Timestamp }),
  ),
  boards_created: Type.Array(Type.Object({ id: Uuid, title: Type.String() })),
  boards_changed_last: Type.Array(Type.Object({ id: Uuid, title: Type.String() })),
  cards_assigned: Type.Array(
    Type.Object({ board_id: Uuid, id: Uuid, title: Type.String(), description: Nullable(Type.String()) }),
  ),
  items_assigned: Type.Array(
    Type.Object({ board_id: Uuid, id: Uuid, content: Type.String(), is_done: Type.Boolean() }),
  ),
  automation_rules: Type.Array(Type.Object({ board_id: Uuid, id: Uuid, name: Type.String() })),
  attachments: Type.Array(
    Type.Object({
      board_id: Uuid,
      id: Uuid,
      card_id: Uuid,
      name: Type.String(),
      mime_type: Type.String(),
      size: Count,
      uploaded_at: Timestamp,
    }),
  ),
  changes: Type.Array(
    Type.Object({ board_id: Uuid, seq: Count, type: Type.String(), id: Nullable(Uuid), at: Timestamp }),
  ),
  stored_answers: Type.Array(
    Type.Object({ key: Type.String(), board_id: Nullable(Uuid), status: Count, at: Timestamp }),
  ),
  audit: Type.Array(AdminAction),
})
/** All that is kept of one user, in one document. */
export interface AccountExport extends Static<typeof exportShape> {}
export const AccountExport = named<AccountExport>('AccountExport', exportShape)

const AccountPath = Type.Object({ user_id: Uuid })
const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 }))
const only = 'For superusers, where `ADMIN_API=on`.'
const guarded = { tag: 'administration', access: 'superuser' } as const

export const administrationOperations = {
  findAccounts: operation({
    ...guarded,
    method: 'GET',
    path: '/admin/users',
    summary: 'List the accounts, or those with a part of a username or an e-mail address',
    description: `In the order of their ids, which is that of their registration; \`Link\` leads to the next page. ${only}`,
    query: Type.Object({ search: Type.Optional(Text(254)), limit: Limit, cursor: Type.Optional(Uuid) }),
    returns: { status: 200, schema: Type.Array(Account) },
  }),
  getAccount: operation({
    ...guarded,
    method: 'GET',
    path: '/admin/users/{user_id}',
    summary: 'Read an account',
    description: only,
    params: AccountPath,
    returns: { status: 200, schema: Account },
    problems: ['user_not_found'],
  }),
  updateAccount: operation({
    ...guarded,
    method: 'PATCH',
    path: '/admin/users/{user_id}',
    summary: 'Activate or deactivate an account, or make it a superuser’s or not',
    description: `A deactivated user is refused from the next request on, and his sockets close. ${only}`,
    params: AccountPath,
    body: Changes({ is_active: Type.Boolean(), is_superuser: Type.Boolean() }),
    returns: { status: 200, schema: Account },
    problems: ['user_not_found', 'own_account', 'user_erased'],
  }),
  resetPassword: operation({
    ...guarded,
    method: 'POST',
    path: '/admin/users/{user_id}/reset-password',
    summary: 'Give an account a new password',
    description: `Every token issued before is refused, the user’s sockets close, and failed logins are forgotten. ${only}`,
    params: AccountPath,
    body: Type.Object({ new_password: Password }),
    returns: { status: 200, schema: Message },
    problems: ['user_not_found', 'own_account', 'user_erased', 'password_refused', 'passwords_busy'],
  }),
  exportAccount: operation({
    ...guarded,
    method: 'POST',
    path: '/admin/users/{user_id}/export',
    summary: 'Export all that is kept of a user',
    description: `Each export is an entry of the audit log, and so no GET. ${only}`,
    params: AccountPath,
    returns: { status: 200, schema: AccountExport },
    problems: ['user_not_found'],
  }),
  eraseAccount: operation({
    ...guarded,
    method: 'DELETE',
    path: '/admin/users/{user_id}',
    summary: 'Erase a user’s personal data',
    description: `He leaves all boards, and no name of him stays. It cannot be taken back; broken off, it is completed by sending it again. ${only}`,
    params: AccountPath,
    returns: nothing,
    problems: ['user_not_found', 'own_account', 'board_busy'],
  }),
  getStatistics: operation({
    ...guarded,
    method: 'GET',
    path: '/admin/statistics',
    summary: 'Count what there is, and what was new on each of the last seven days',
    description: only,
    returns: { status: 200, schema: Statistics },
  }),
  listAdminActions: operation({
    ...guarded,
    method: 'GET',
    path: '/admin/audit',
    summary: 'Read the audit log, the newest entry first',
    description: `\`Link\` leads to older entries. ${only}`,
    query: Type.Object({
      limit: Limit,
      cursor: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    }),
    returns: { status: 200, schema: Type.Array(AdminAction) },
  }),
}
