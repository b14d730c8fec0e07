import Type, { type Static } from 'typebox'
import { newAccountFields, Password } from './auth.ts'
import { cardFields } from './cards.ts'
import { itemFields } from './checklists.ts'
import { commentFields } from './comments.ts'
import { invitationFields, Link } from './invitations.ts'
import { Changes, Message, Nullable, named, nothing, operation, Paging, Text, Timestamp, Uuid } from './operation.ts'
import { AccessToken } from './tokens.ts'

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
/** A user as superusers see them. */
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
/** An entry of the audit log: an action of a user (`actor_id`), or of an operator on the command line (`operator`). */
export interface AdminAction extends Static<typeof actionShape> {}
export const AdminAction = named<AdminAction>('AdminAction', actionShape)

const resetLinkShape = Type.Object({ link: Link, expires_at: Timestamp })
/** A link with which a user sets a new password. */
export interface ResetLink extends Static<typeof resetLinkShape> {}
export const ResetLink = named<ResetLink>('ResetLink', resetLinkShape)

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
/** Totals, and what was created on each of the last seven days (UTC), newest first. */
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
  cards_assigned: Type.Array(Type.Object({ board_id: Uuid, id: Uuid, ...cardFields })),
  items_assigned: Type.Array(Type.Object({ board_id: Uuid, id: Uuid, ...itemFields })),
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
  comments: Type.Array(
    Type.Object({
      board_id: Uuid,
      id: Uuid,
      card_id: Uuid,
      ...commentFields,
      created_at: Timestamp,
      edited_at: Nullable(Timestamp),
    }),
  ),
  inbox: Type.Array(
    Type.Object({
      reason: Type.String(),
      board_id: Uuid,
      card_id: Nullable(Uuid),
      changed_at: Timestamp,
      read_at: Nullable(Timestamp),
    }),
  ),
  changes: Type.Array(
    Type.Object({ board_id: Uuid, seq: Count, type: Type.String(), id: Nullable(Uuid), at: Timestamp }),
  ),
  stored_responses: Type.Array(
    Type.Object({ key: Type.String(), board_id: Nullable(Uuid), status: Count, at: Timestamp }),
  ),
  invitations: Type.Array(
    Type.Object({ ...invitationFields, accepted_at: Nullable(Timestamp), claimed_by: Nullable(Uuid) }),
  ),
  access_tokens: Type.Array(AccessToken),
  audit: Type.Array(AdminAction),
})
/** All data about one user, in one document. */
export interface AccountExport extends Static<typeof exportShape> {}
export const AccountExport = named<AccountExport>('AccountExport', exportShape)

const AccountPath = Type.Object({ user_id: Uuid })
const only = 'For superusers, if `ADMIN_API=on`.'
const guarded = { tag: 'administration', access: 'superuser' } as const

export const administrationOperations = {
  findAccounts: operation({
    ...guarded,
    method: 'GET',
    path: '/admin/users',
    summary: 'List accounts, or search them by username or e-mail address',
    description: `Ordered by id, which is the order of registration. \`Link\` is the next page. ${only}`,
    query: Type.Object({ search: Type.Optional(Text(254)), ...Paging({ default: 50 }) }),
    returns: { status: 200, schema: Type.Array(Account) },
  }),
  createAccount: operation({
    ...guarded,
    method: 'POST',
    path: '/admin/users',
    summary: 'Create an account',
    description: `Also while registration is closed. ${only}`,
    body: Type.Object(newAccountFields),
    returns: { status: 201, schema: Account },
    problems: ['email_taken', 'username_taken', 'password_refused', 'passwords_busy'],
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
    summary: 'Activate or deactivate an account, or grant or revoke superuser rights',
    description: `Requests of a deactivated user are rejected from then on, and the user’s sockets close. ${only}`,
    params: AccountPath,
    body: Changes({ is_active: Type.Boolean(), is_superuser: Type.Boolean() }),
    returns: { status: 200, schema: Account },
    problems: ['user_not_found', 'own_account', 'user_erased'],
  }),
  resetPassword: operation({
    ...guarded,
    method: 'POST',
    path: '/admin/users/{user_id}/reset-password',
    summary: 'Set a new password for an account',
    description: `Revokes all sessions and access tokens of the user, closes the user’s sockets, and lifts the limit on failed logins. ${only}`,
    params: AccountPath,
    body: Type.Object({ new_password: Password }),
    returns: { status: 200, schema: Message },
    problems: ['user_not_found', 'own_account', 'user_erased', 'password_refused', 'passwords_busy'],
  }),
  createResetLink: operation({
    ...guarded,
    method: 'POST',
    path: '/admin/users/{user_id}/reset-link',
    summary: 'Create a link with which a user sets a new password',
    description: `It can be used once, within 24 hours, and ends when the password changes. A new link replaces the previous one. ${only}`,
    params: AccountPath,
    is_secret: true,
    returns: { status: 201, schema: ResetLink },
    problems: ['user_not_found', 'own_account', 'user_erased'],
  }),
  listAccountTokens: operation({
    ...guarded,
    method: 'GET',
    path: '/admin/users/{user_id}/tokens',
    summary: 'List the access tokens of a user, newest first',
    description: only,
    params: AccountPath,
    query: Type.Object(Paging()),
    returns: { status: 200, schema: Type.Array(AccessToken) },
    problems: ['user_not_found'],
  }),
  revokeAccountTokens: operation({
    ...guarded,
    method: 'DELETE',
    path: '/admin/users/{user_id}/tokens',
    summary: 'Revoke all access tokens of a user',
    description: only,
    params: AccountPath,
    returns: nothing,
    problems: ['user_not_found'],
  }),
  exportAccount: operation({
    ...guarded,
    method: 'POST',
    path: '/admin/users/{user_id}/export',
    summary: 'Export all data about a user',
    description: `Not a GET, because each export is recorded in the audit log. ${only}`,
    params: AccountPath,
    returns: { status: 200, schema: AccountExport },
    problems: ['user_not_found'],
  }),
  eraseAccount: operation({
    ...guarded,
    method: 'DELETE',
    path: '/admin/users/{user_id}',
    summary: 'Erase a user’s personal data',
    description: `Removes the user from all boards, and the user’s names from all data. Cannot be undone. If it is interrupted, send the request again to complete it. ${only}`,
    params: AccountPath,
    returns: nothing,
    problems: ['user_not_found', 'own_account', 'board_busy'],
  }),
  getStatistics: operation({
    ...guarded,
    method: 'GET',
    path: '/admin/statistics',
    summary: 'Read totals, and what was created on each of the last seven days',
    description: only,
    returns: { status: 200, schema: Statistics },
  }),
  listAdminActions: operation({
    ...guarded,
    method: 'GET',
    path: '/admin/audit',
    summary: 'Read the audit log, newest entry first',
    description: `\`Link\` is the next page, with older entries. ${only}`,
    query: Type.Object(Paging({ default: 50 })),
    returns: { status: 200, schema: Type.Array(AdminAction) },
  }),
}
