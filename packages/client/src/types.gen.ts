// Generated from packages/contract by npm run generate.

export interface User {
  id: string
  email: string
  username: string
  firstname: string | null
  lastname: string | null
  is_active: boolean
  is_verified: boolean
  is_superuser: boolean
}

export interface Token {
  access_token: string
  token_type: "bearer"
  /** When sessions of the user were last ended: by “log out everywhere”, a new password or a deactivation. Null: never. What a client stored for a session with an earlier `iat` may be from somebody else. */
  sessions_ended_at: string | null
}

export interface Message {
  detail: string
}

export interface Ticket {
  ticket: string
  expires_in: number
}

export interface InvitationPreview {
  board_title: string | null
  role: "owner" | "member" | null
  /** The name of the inviter; null for an operator. */
  invited_by: string | null
  email: string | null
  expires_at: string
  is_claimed: boolean
}

export interface AcceptedInvitation {
  board_id: string | null
  role: "owner" | "member" | null
}

export interface Health {
  status: "ok" | "degraded" | "error"
  database: "connected" | "disconnected"
  redis: "connected" | "disconnected" | "disabled"
  /** Present while the database rejects changes because its disk is full. */
  writes?: "refused"
  /** Present while the database does not use the planner settings that the service sends, so that some requests are slow. */
  planner?: "slow"
}

export interface Readiness {
  status: "ready"
}

export interface Liveness {
  status: "alive"
}

export interface Label {
  id: string
  board_id: string
  name: string
  color: string
}

export interface BoardMember {
  board_id: string
  user_id: string
  role: "owner" | "member"
  user: User
}

export interface Board {
  id: string
  title: string
  description: string | null
  created_by: string
  updated_by: string
  labels: Label[]
  members: BoardMember[]
  /** An archived board is read-only. */
  archived_at: string | null
}

export interface ListedBoard {
  id: string
  title: string
  description: string | null
  created_by: string
  updated_by: string
  labels: Label[]
  members: BoardMember[]
  /** An archived board is read-only. */
  archived_at: string | null
  /** The number of cards outside done columns. */
  open_cards: number
  /** The number of open cards that are assigned to you. */
  my_cards: number
  /** The time of the last write to the board. */
  changed_at: string
}

export interface ChecklistItem {
  id: string
  checklist_id: string
  content: string
  is_done: boolean
  rank: number
  assignees: User[]
}

export interface Checklist {
  id: string
  card_id: string
  title: string
  rank: number
  items: ChecklistItem[]
}

export interface Attachment {
  id: string
  card_id: string
  name: string
  mime_type: string
  size: number
}

export interface Removal {
  as: "archived" | "deleted"
  at: string
  /** The user who archived or deleted it. */
  by: string | null
  /** From this time on it may be deleted for good; null: it is kept. */
  until: string | null
}

export interface Card {
  id: string
  column_id: string
  title: string
  description: string | null
  /** The day on which it is due. */
  due_on: string | null
  rank: number
  labels: Label[]
  assignees: User[]
  checklists: Checklist[]
  attachments: Attachment[]
  created_at: string
  updated_at: string
  /** Unique on the board and never used again, not even after a deletion. */
  number: number
  comment_count: number
  /** Only on what is no longer on the board. */
  removed?: Removal
}

export interface Column {
  id: string
  board_id: string
  title: string
  rank: number
  color: string
  is_done_column: boolean
  cards: Card[]
  /** Only on what is no longer on the board. */
  removed?: Removal
}

export interface FullBoard {
  id: string
  title: string
  description: string | null
  created_by: string
  updated_by: string
  labels: Label[]
  members: BoardMember[]
  /** An archived board is read-only. */
  archived_at: string | null
  columns: Column[]
}

export interface BoardUsage {
  text_bytes: { used: number; limit: number | null }
  cards: { used: number; limit: number | null }
  file_bytes: { used: number; limit: number | null }
  log_bytes_per_minute: { used: number; limit: number | null }
}

export interface Invited {
  user_id: string
  role: "member"
}

export interface NewInvitation {
  id: string
  board_id: string | null
  role: "owner" | "member" | null
  email: string | null
  invited_by: string | null
  created_at: string
  expires_at: string
  /** An account was created with it, and has not joined the board yet. */
  is_claimed: boolean
  /** The link with its secret, which is not shown again. A path if `PUBLIC_URL` is not set. */
  link: string
}

export interface Invitation {
  id: string
  board_id: string | null
  role: "owner" | "member" | null
  email: string | null
  invited_by: string | null
  created_at: string
  expires_at: string
  /** An account was created with it, and has not joined the board yet. */
  is_claimed: boolean
}

export interface LabelUsage {
  label_id: string
  name: string
  color: string
  card_count: number
}

export interface Comment {
  id: string
  card_id: string
  author: User
  body: string
  /** The users whom the text mentions, in its order, if they are members of the board now. Others are only text. */
  mentions: User[]
  created_at: string
  /** When the text was last changed; null: never. */
  edited_at: string | null
}

export interface RemovedItem {
  /** The id of the card or the column. */
  id: string
  kind: "card" | "column"
  title: string
  /** The number of a card. */
  number: number | null
  /** The column of a card when it left the board. It may not exist anymore. */
  column_id: string | null
  /** The number of cards that come back with a column. */
  card_count: number | null
  removed: Removal
}

export interface DetailedRemovedItem {
  /** The id of the card or the column. */
  id: string
  kind: "card" | "column"
  title: string
  /** The number of a card. */
  number: number | null
  /** The column of a card when it left the board. It may not exist anymore. */
  column_id: string | null
  /** The number of cards that come back with a column. */
  card_count: number | null
  removed: Removal
  card: Card | null
}

export interface Restored {
  card: Card | null
  column: Column | null
}

export interface AutomationRule {
  id: string
  board_id: string
  name: string
  trigger_type: "CARD_CREATED" | "CARD_MOVED" | "LABEL_ADDED"
  trigger_column_id: string | null
  trigger_label_id: string | null
  action_type: "MOVE_TO_COLUMN" | "ASSIGN_MEMBER"
  action_column_id: string | null
  action_user_id: string | null
  is_enabled: boolean
}

export interface AutomationRun {
  id: string
  rule_id: string
  /** The name of the rule at the time of the run. */
  rule_name: string
  card_id: string
  /** The sequence number of the event that triggered the run. */
  cause_seq: number
  outcome: "moved" | "assigned" | "already_there" | "already_assigned" | "failed"
  created_at: string
}

export interface OnlineUser {
  user_id: string
  username: string
}

export interface Presence {
  board_id: string
  online_users: OnlineUser[]
}

/** An event of a board's log, with its sequence number. */
export type LoggedEvent<K extends EventKind = EventKind> = BoardEvent<K> & { seq: number; actor_id?: string | null }

export interface Webhook {
  id: string
  board_id: string
  name: string
  url: string
  /** The kinds of events that are sent; null: all. */
  kinds: ("board.updated" | "board.deleted" | "board.member_added" | "board.member_removed" | "column.created" | "column.updated" | "column.deleted" | "column.moved" | "card.labeled" | "card.unlabeled" | "card.created" | "card.updated" | "card.deleted" | "card.moved" | "card.assigned" | "card.unassigned" | "label.created" | "label.updated" | "label.deleted" | "checklist.created" | "checklist.updated" | "checklist.deleted" | "checklist.moved" | "checklist_item.created" | "checklist_item.updated" | "checklist_item.deleted" | "checklist_item.moved" | "checklist_item.assigned" | "checklist_item.unassigned" | "attachment.created" | "attachment.deleted" | "comment.created" | "comment.updated" | "comment.deleted")[] | null
  is_enabled: boolean
  /** `retrying`: the next event failed and will be sent again; later events wait. `paused`: nothing is sent until the webhook is resumed. `disabled`: by an owner. */
  state: "active" | "retrying" | "paused" | "disabled"
  /** `failing`: it failed for too long. `gone`: the receiver returned 410. `token_invalid`: it was created with an access token that has expired or was revoked. */
  paused_reason: "failing" | "gone" | "token_invalid" | null
  /** Every event up to this position was accepted, or is of another kind. */
  position: string
  /** How many events of the board come after `position`. */
  behind: number
  /** Failed attempts to send the next event. */
  failed_attempts: number
  failing_since: string | null
  /** Only while `retrying`. */
  next_attempt_at: string | null
  last_delivered_at: string | null
  /** Until then, the previous secret signs too. */
  old_secret_until: string | null
  created_by: string
  created_at: string
}

export interface WebhookSecret {
  secret: string
  old_secret_until: string | null
}

export interface WebhookAttempt {
  /** The status of the response; null without one. */
  status: number | null
  /** Why there was no response. `unreachable` is an unknown name, a closed port or an address that is not allowed: they are not told apart. `secret_unreadable`: nothing was sent, because the secret cannot be decrypted with the keys of the operator. */
  error: "unreachable" | "timeout" | "connection_lost" | "tls" | "invalid_response" | "secret_unreadable" | null
  duration_ms: number | null
}

export interface WebhookDelivery {
  id: string
  attempted_at: string
  /** The kind of the event; also `webhook.test` and `webhook.resync`. */
  type: string
  /** The position of the event; null for a test. */
  position: string | null
  /** Counts the attempts to send this event. */
  attempt: number
  is_accepted: boolean
  /** The status of the response; null without one. */
  status: number | null
  /** Why there was no response. `unreachable` is an unknown name, a closed port or an address that is not allowed: they are not told apart. `secret_unreadable`: nothing was sent, because the secret cannot be decrypted with the keys of the operator. */
  error: "unreachable" | "timeout" | "connection_lost" | "tls" | "invalid_response" | "secret_unreadable" | null
  duration_ms: number | null
  /** The first 1,024 bytes of the response; null unless the receiver has a public address. */
  response: string | null
}

export interface InboxItem {
  id: string
  /** `mentioned` in a comment, `assigned` to a card or to an item of it, or `added` to a board. The strongest, if there are several. */
  reason: "mentioned" | "assigned" | "added"
  /** How often something happened since it was last read. */
  count: number
  /** Who did it last; null: an automation rule. */
  actor: User | null
  /** If an automation rule did it: the change that started the rule, who made it, and the column the card was moved to or the label it got, if they still exist. Null otherwise, and when the log no longer has the change. */
  trigger: { type: "CARD_MOVED" | "LABEL_ADDED"; actor: User; column: { id: string; title: string } | null; label: { id: string; name: string } | null } | null
  board: { id: string; title: string }
  card: { id: string; number: number; title: string } | null
  /** The comment that mentions you, as it is now, shortened. */
  comment: { id: string; excerpt: string } | null
  changed_at: string
  read_at: string | null
}

export interface InboxSummary {
  /** The number of unread items; 100 means 100 or more. */
  unread: number
  /** When an unread item changed last. It differs also when the number is the same and the items are not. */
  newest_at: string | null
}

export interface NewAccessToken {
  id: string
  name: string
  scope: "read" | "write" | "admin"
  /** The only board that it gives access to; null: all boards. */
  board_id: string | null
  /** The last four characters. */
  hint: string
  created_at: string
  expires_at: string | null
  /** Exact to a minute and a half. */
  last_used_at: string | null
  token: string
}

export interface AccessToken {
  id: string
  name: string
  scope: "read" | "write" | "admin"
  /** The only board that it gives access to; null: all boards. */
  board_id: string | null
  /** The last four characters. */
  hint: string
  created_at: string
  expires_at: string | null
  /** Exact to a minute and a half. */
  last_used_at: string | null
}

export interface BoardToken {
  id: string
  name: string
  scope: "read" | "write" | "admin"
  /** The only board that it gives access to; null: all boards. */
  board_id: string | null
  /** The last four characters. */
  hint: string
  created_at: string
  expires_at: string | null
  /** Exact to a minute and a half. */
  last_used_at: string | null
  user: User
}

export interface Account {
  id: string
  email: string
  username: string
  firstname: string | null
  lastname: string | null
  is_active: boolean
  is_verified: boolean
  is_superuser: boolean
  created_at: string
  erased_at: string | null
}

export interface ResetLink {
  /** The link with its secret, which is not shown again. A path if `PUBLIC_URL` is not set. */
  link: string
  expires_at: string
}

export interface AdminAction {
  id: number
  at: string
  actor_id: string | null
  operator: string | null
  action: string
  target_id: string | null
  details: Record<string, unknown>
}

export interface AccountExport {
  exported_at: string
  profile: Account
  memberships: ({ board_id: string; title: string; role: string; joined_at: string })[]
  boards_created: ({ id: string; title: string })[]
  boards_changed_last: ({ id: string; title: string })[]
  cards_assigned: ({ board_id: string; id: string; title: string; description: string | null; due_on: string | null })[]
  items_assigned: ({ board_id: string; id: string; content: string; is_done: boolean })[]
  automation_rules: ({ board_id: string; id: string; name: string })[]
  attachments: ({ board_id: string; id: string; card_id: string; name: string; mime_type: string; size: number; uploaded_at: string })[]
  comments: ({ board_id: string; id: string; card_id: string; body: string; created_at: string; edited_at: string | null })[]
  inbox: ({ reason: string; board_id: string; card_id: string | null; changed_at: string; read_at: string | null })[]
  changes: ({ board_id: string; seq: number; type: string; id: string | null; at: string })[]
  stored_responses: ({ key: string; board_id: string | null; status: number; at: string })[]
  invitations: ({ id: string; board_id: string | null; role: "owner" | "member" | null; email: string | null; invited_by: string | null; created_at: string; expires_at: string; is_claimed: boolean; accepted_at: string | null; claimed_by: string | null })[]
  access_tokens: AccessToken[]
  audit: AdminAction[]
}

export interface Statistics {
  users: { active: number; inactive: number; superusers: number; erased: number }
  boards: number
  cards: number
  events: { count: number; oldest_at: string | null }
  attachments: { count: number; bytes: number }
  database_bytes: number
  days: ({ date: string; users: number; boards: number; cards: number; events: number })[]
}

export interface DeletedBoard {
  id: string
}

export interface CommentEvent {
  id: string
  card_id: string
  author: User
  body: string
  /** The users whom the text mentions, in its order, if they are members of the board now. Others are only text. */
  mentions: User[]
  created_at: string
  /** When the text was last changed; null: never. */
  edited_at: string | null
  /** The number of comments of the card after the change. */
  comment_count: number
}

/** The data of each kind of event. */
export interface EventData {
  'board.updated': Board
  'board.deleted': DeletedBoard
  'board.member_added': BoardMember
  'board.member_removed': BoardMember
  'column.created': Column
  'column.updated': Column
  'column.deleted': Column
  'column.moved': Column
  'card.labeled': Card
  'card.unlabeled': Card
  'card.created': Card
  'card.updated': Card
  'card.deleted': Card
  'card.moved': Card
  'card.assigned': Card
  'card.unassigned': Card
  'label.created': Label
  'label.updated': Label
  'label.deleted': Label
  'checklist.created': Checklist
  'checklist.updated': Checklist
  'checklist.deleted': Checklist
  'checklist.moved': Checklist
  'checklist_item.created': ChecklistItem
  'checklist_item.updated': ChecklistItem
  'checklist_item.deleted': ChecklistItem
  'checklist_item.moved': ChecklistItem
  'checklist_item.assigned': ChecklistItem
  'checklist_item.unassigned': ChecklistItem
  'attachment.created': Attachment
  'attachment.deleted': Attachment
  'comment.created': CommentEvent
  'comment.updated': CommentEvent
  'comment.deleted': CommentEvent
}
export type EventKind = keyof EventData

/** An event of a board. `type` determines the type of `data`. */
export type BoardEvent<K extends EventKind = EventKind> = {
  [T in K]: {
    type: T
    data: EventData[T]
    /** The user who caused it; null for the service itself (automation rules, rank rebalancing). */
    user_id: string | null
    timestamp: string
    version: '1.0'
    /** The sequence number on the board, if the client asked for numbers. */
    seq?: number
  }
}[K]

/** The code of each problem. */
export type ProblemCode =
  | 'malformed_request'
  | 'request_incomplete'
  | 'wrong_password'
  | 'file_too_large'
  | 'unusable_host'
  | 'not_authenticated'
  | 'login_failed'
  | 'session_too_old'
  | 'foreign_origin'
  | 'download_only'
  | 'webhooks_off'
  | 'registration_closed'
  | 'not_a_member'
  | 'role_too_low'
  | 'not_the_author'
  | 'wrong_invited_email'
  | 'login_too_old'
  | 'token_scope'
  | 'token_board'
  | 'superuser_only'
  | 'user_not_a_member'
  | 'not_found'
  | 'board_not_found'
  | 'column_not_found'
  | 'card_not_found'
  | 'label_not_found'
  | 'checklist_not_found'
  | 'item_not_found'
  | 'attachment_not_found'
  | 'comment_not_found'
  | 'rule_not_found'
  | 'removed_not_found'
  | 'inbox_item_not_found'
  | 'user_not_found'
  | 'invitation_not_found'
  | 'link_invalid'
  | 'member_not_found'
  | 'token_not_found'
  | 'webhook_not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'already_a_member'
  | 'email_taken'
  | 'username_taken'
  | 'id_taken'
  | 'board_archived'
  | 'column_required'
  | 'own_account'
  | 'user_erased'
  | 'last_owner'
  | 'too_many_invitations'
  | 'too_many_rules'
  | 'board_text_limit'
  | 'board_card_limit'
  | 'board_file_limit'
  | 'owned_board_limit'
  | 'too_many_tokens'
  | 'too_many_webhooks'
  | 'token_lifetime_limit'
  | 'change_too_large'
  | 'history_gone'
  | 'precondition_failed'
  | 'body_too_large'
  | 'uri_too_long'
  | 'range_not_satisfiable'
  | 'expectation_failed'
  | 'invalid_input'
  | 'url_refused'
  | 'unknown_field'
  | 'password_refused'
  | 'idempotency_key_reused'
  | 'too_many_requests'
  | 'board_log_limit'
  | 'headers_too_large'
  | 'internal'
  | 'result_too_large'
  | 'unavailable'
  | 'query_timeout'
  | 'storage_full'
  | 'overloaded'
  | 'board_busy'
  | 'passwords_busy'

export interface RegisterInput {
  email: string
  username: string
  password: string
  firstname?: string | null
  lastname?: string | null
  /** The token of an invitation link. */
  invitation?: string | null
}

export interface LoginInput {
  username: string
  password: string
  cookie?: "true" | "false"
}

export type LogoutInput = Record<string, never>

export type LogoutEverywhereInput = Record<string, never>

export type RefreshInput = Record<string, never>

export type CreateTicketInput = Record<string, never>

export type GetMeInput = Record<string, never>

export interface UpdateMeInput {
  username?: string
  firstname?: string | null
  lastname?: string | null
}

export interface ChangePasswordInput {
  current_password: string
  new_password: string
  /** Also revoke all access tokens of the user. */
  revoke_tokens?: boolean
}

export interface ResetPasswordByLinkInput {
  token: string
  new_password: string
}

export interface ReadInvitationInput {
  token: string
}

export interface AcceptInvitationInput {
  token: string
}

export interface GetUserInput {
  user_id: string
}

export interface FindUsersInput {
  search?: string
  /** Another name for `search`. */
  q?: string
  /** Another name for `search`. */
  query?: string
  /** `true`: also search first and last names. */
  names?: "true" | "false"
  limit?: number
}

export type GetHealthInput = Record<string, never>

export type GetReadinessInput = Record<string, never>

export type GetLivenessInput = Record<string, never>

export interface CreateBoardInput {
  id?: string | null
  title: string
  description?: string | null
}

export interface ListBoardsInput {
  /** Only archived boards, or only the others. */
  archived?: "true" | "false"
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. Without `limit` and `cursor`, the list is returned whole. */
  limit?: number
}

export interface GetBoardInput {
  board_id: string
}

export interface UpdateBoardInput {
  board_id: string
  title?: string
  description?: string | null
}

export interface DeleteBoardInput {
  board_id: string
}

export interface ArchiveBoardInput {
  board_id: string
}

export interface RestoreBoardInput {
  board_id: string
}

export interface GetBoardUsageInput {
  board_id: string
}

export interface InviteMemberInput {
  board_id: string
  user_id: string
}

export interface ListMembersInput {
  board_id: string
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. Without `limit` and `cursor`, the list is returned whole. */
  limit?: number
}

export interface UpdateMemberInput {
  board_id: string
  user_id: string
  /** Accepted in upper or lower case. */
  role?: "owner" | "member"
}

export interface RemoveMemberInput {
  board_id: string
  user_id: string
}

export interface CreateInvitationInput {
  board_id: string
  role?: "owner" | "member" | null
  email?: string | null
}

export interface ListInvitationsInput {
  board_id: string
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. Without `limit` and `cursor`, the list is returned whole. */
  limit?: number
}

export interface RevokeInvitationInput {
  board_id: string
  invitation_id: string
}

export interface CreateColumnInput {
  board_id: string
  id?: string | null
  title: string
  color?: string | null
  is_done_column?: boolean | null
  /** Index in the target list, not counting the moved item. Past the end means last. */
  position?: number | null
  /** The item that precedes it; null means first. Has priority over `position`. */
  after_id?: string | null
}

export interface UpdateColumnInput {
  column_id: string
  title?: string
  color?: string
  is_done_column?: boolean
}

export interface DeleteColumnInput {
  column_id: string
}

export interface ArchiveColumnInput {
  column_id: string
}

export interface MoveColumnInput {
  column_id: string
  /** Index in the target list, not counting the moved item. Past the end means last. */
  position?: number | null
  /** The item that precedes it; null means first. Has priority over `position`. */
  after_id?: string | null
}

export interface CreateCardInput {
  board_id: string
  column_id: string
  id?: string | null
  title: string
  description?: string | null
  due_on?: string | null
  /** Index in the target list, not counting the moved item. Past the end means last. */
  position?: number | null
  /** The item that precedes it; null means first. Has priority over `position`. */
  after_id?: string | null
}

export interface FindCardsInput {
  board_id: string
  /** A part of the title or of the description, case-insensitive. `%`, `_` and `\` are plain characters. */
  search?: string
  /** A label of the card. */
  label?: string
  /** An assignee of the card. */
  assignee?: string
  /** The column of the card. */
  column?: string
  /** The number of the card. */
  number?: number
  /** Due on this day or later. */
  due_from?: string
  /** Due on this day or earlier. */
  due_to?: string
  /** Deprecated, use `cursor`: the last card of the previous page. */
  after?: string
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. */
  limit?: number
}

export interface GetCardInput {
  card_id: string
}

export interface UpdateCardInput {
  card_id: string
  title?: string
  description?: string | null
  due_on?: string | null
}

export interface DeleteCardInput {
  card_id: string
}

export interface ArchiveCardInput {
  card_id: string
}

export interface MoveCardInput {
  card_id: string
  column_id?: string | null
  /** Index in the target list, not counting the moved item. Past the end means last. */
  position?: number | null
  /** The item that precedes it; null means first. Has priority over `position`. */
  after_id?: string | null
}

export interface AssignCardInput {
  card_id: string
  user_ids: string[]
}

export interface UnassignCardInput {
  card_id: string
  user_id: string
}

export interface AddCardLabelInput {
  card_id: string
  label_id: string
}

export interface RemoveCardLabelInput {
  card_id: string
  label_id: string
}

export interface ListLabelsInput {
  board_id: string
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. Without `limit` and `cursor`, the list is returned whole. */
  limit?: number
}

export interface CountLabelsInput {
  board_id: string
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. Without `limit` and `cursor`, the list is returned whole. */
  limit?: number
}

export interface CreateLabelInput {
  board_id: string
  id?: string | null
  name: string
  color?: string | null
}

export interface UpdateLabelInput {
  label_id: string
  name?: string
  color?: string
}

export interface DeleteLabelInput {
  label_id: string
}

export interface CreateChecklistInput {
  card_id: string
  id?: string | null
  title: string
}

export interface UpdateChecklistInput {
  checklist_id: string
  title?: string
}

export interface DeleteChecklistInput {
  checklist_id: string
}

export interface MoveChecklistInput {
  checklist_id: string
  /** Index in the target list, not counting the moved item. Past the end means last. */
  position?: number | null
  /** The item that precedes it; null means first. Has priority over `position`. */
  after_id?: string | null
}

export interface CreateItemInput {
  checklist_id: string
  id?: string | null
  content: string
}

export interface UpdateItemInput {
  item_id: string
  content?: string
  is_done?: boolean
}

export interface DeleteItemInput {
  item_id: string
}

export interface MoveItemInput {
  item_id: string
  checklist_id?: string | null
  /** Index in the target list, not counting the moved item. Past the end means last. */
  position?: number | null
  /** The item that precedes it; null means first. Has priority over `position`. */
  after_id?: string | null
}

export interface AssignItemInput {
  item_id: string
  user_ids: string[]
}

export interface UnassignItemInput {
  item_id: string
  user_id: string
}

export interface CreateCommentInput {
  card_id: string
  id?: string | null
  body: string
}

export interface ListCommentsInput {
  card_id: string
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. */
  limit?: number
}

export interface UpdateCommentInput {
  comment_id: string
  body?: string
}

export interface DeleteCommentInput {
  comment_id: string
}

export interface CreateAttachmentInput {
  card_id: string
  id?: string | null
  file: Blob
}

export interface GetAttachmentInput {
  attachment_id: string
}

export interface DeleteAttachmentInput {
  attachment_id: string
}

export interface ListRemovedInput {
  board_id: string
  as?: "archived" | "deleted"
  kind?: "card" | "column"
  /** A part of the title or the description of a card, or of the title of a column, case-insensitive. */
  search?: string
  /** Cards of this column. */
  column_id?: string
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. */
  limit?: number
}

export interface GetRemovedInput {
  board_id: string
  removed_id: string
}

export interface RestoreRemovedInput {
  board_id: string
  removed_id: string
  column_id?: string | null
  /** Index in the target list, not counting the moved item. Past the end means last. */
  position?: number | null
  /** The item that precedes it; null means first. Has priority over `position`. */
  after_id?: string | null
}

export interface PurgeRemovedInput {
  board_id: string
  removed_id: string
}

export interface CreateRuleInput {
  board_id: string
  id?: string | null
  name: string
  trigger_type: "CARD_CREATED" | "CARD_MOVED" | "LABEL_ADDED"
  trigger_column_id?: string | null
  trigger_label_id?: string | null
  action_type: "MOVE_TO_COLUMN" | "ASSIGN_MEMBER"
  action_column_id?: string | null
  action_user_id?: string | null
  is_enabled?: boolean | null
}

export interface ListRulesInput {
  board_id: string
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. Without `limit` and `cursor`, the list is returned whole. */
  limit?: number
}

export interface UpdateRuleInput {
  rule_id: string
  name?: string
  trigger_type?: "CARD_CREATED" | "CARD_MOVED" | "LABEL_ADDED"
  trigger_column_id?: string | null
  trigger_label_id?: string | null
  action_type?: "MOVE_TO_COLUMN" | "ASSIGN_MEMBER"
  action_column_id?: string | null
  action_user_id?: string | null
  is_enabled?: boolean
}

export interface DeleteRuleInput {
  rule_id: string
}

export interface ListRunsInput {
  board_id: string
  /** Deprecated, use `cursor`: the last run of the previous page. */
  before?: string
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. */
  limit?: number
}

export interface GetPresenceInput {
  board_id: string
}

export interface ListEventsInput {
  board_id: string
  /** Where to start. `cursor` has priority. */
  after?: string
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. */
  limit?: number
}

export interface ListCardEventsInput {
  board_id: string
  card_id: string
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. */
  limit?: number
}

export interface CreateWebhookInput {
  board_id: string
  name: string
  /** Where events are sent. `https`, unless the operator allows `http`. It is stored and returned as it is called: without spaces around it, with its host in Punycode. Members do not see it. */
  url: string
  kinds?: ("board.updated" | "board.deleted" | "board.member_added" | "board.member_removed" | "column.created" | "column.updated" | "column.deleted" | "column.moved" | "card.labeled" | "card.unlabeled" | "card.created" | "card.updated" | "card.deleted" | "card.moved" | "card.assigned" | "card.unassigned" | "label.created" | "label.updated" | "label.deleted" | "checklist.created" | "checklist.updated" | "checklist.deleted" | "checklist.moved" | "checklist_item.created" | "checklist_item.updated" | "checklist_item.deleted" | "checklist_item.moved" | "checklist_item.assigned" | "checklist_item.unassigned" | "attachment.created" | "attachment.deleted" | "comment.created" | "comment.updated" | "comment.deleted")[] | null
  is_enabled?: boolean | null
  /** Events after this position are sent: `<epoch>.<seq>`, `0` for everything that the log still has, or `now`. 410 if they are no longer available. */
  after?: string | null
}

export interface ListWebhooksInput {
  board_id: string
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. */
  limit?: number
}

export interface GetWebhookInput {
  board_id: string
  webhook_id: string
}

export interface UpdateWebhookInput {
  board_id: string
  webhook_id: string
  name?: string
  /** Where events are sent. `https`, unless the operator allows `http`. It is stored and returned as it is called: without spaces around it, with its host in Punycode. Members do not see it. */
  url?: string
  kinds?: ("board.updated" | "board.deleted" | "board.member_added" | "board.member_removed" | "column.created" | "column.updated" | "column.deleted" | "column.moved" | "card.labeled" | "card.unlabeled" | "card.created" | "card.updated" | "card.deleted" | "card.moved" | "card.assigned" | "card.unassigned" | "label.created" | "label.updated" | "label.deleted" | "checklist.created" | "checklist.updated" | "checklist.deleted" | "checklist.moved" | "checklist_item.created" | "checklist_item.updated" | "checklist_item.deleted" | "checklist_item.moved" | "checklist_item.assigned" | "checklist_item.unassigned" | "attachment.created" | "attachment.deleted" | "comment.created" | "comment.updated" | "comment.deleted")[] | null
  is_enabled?: boolean
}

export interface DeleteWebhookInput {
  board_id: string
  webhook_id: string
}

export interface ResumeWebhookInput {
  board_id: string
  webhook_id: string
  /** Events after this position are sent: `<epoch>.<seq>`, `0` for everything that the log still has, or `now`. 410 if they are no longer available. */
  after?: string | null
}

export interface GetWebhookSecretInput {
  board_id: string
  webhook_id: string
}

export interface RotateWebhookSecretInput {
  board_id: string
  webhook_id: string
  keep_old_hours?: number | null
}

export interface TestWebhookInput {
  board_id: string
  webhook_id: string
}

export interface ListDeliveriesInput {
  board_id: string
  webhook_id: string
  /** `false`: only failed attempts; `true`: only accepted ones. */
  is_accepted?: "true" | "false"
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. */
  limit?: number
}

export interface ListInboxInput {
  /** `true`: only unread items. */
  unread?: "true" | "false"
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. */
  limit?: number
}

export type GetInboxSummaryInput = Record<string, never>

export interface UpdateInboxItemInput {
  inbox_item_id: string
  is_read: boolean
  /** The `changed_at` of the item that the user saw. */
  seen?: string
}

export interface ReadInboxInput {
  /** The newest `changed_at` that the user saw. */
  until: string
}

export interface CreateTokenInput {
  name: string
  scope: "read" | "write" | "admin"
  board_id?: string | null
  /** The operator sets the maximum (`TOKEN_MAX_AGE_DAYS`). 0: never, if there is no maximum. */
  expires_in_days?: number
}

export interface ListTokensInput {
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. Without `limit` and `cursor`, the list is returned whole. */
  limit?: number
}

export interface RevokeTokenInput {
  token_id: string
}

export type RevokeTokensInput = Record<string, never>

export interface ListBoardTokensInput {
  board_id: string
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. Without `limit` and `cursor`, the list is returned whole. */
  limit?: number
}

export interface RevokeBoardTokenInput {
  board_id: string
  token_id: string
}

export interface FindAccountsInput {
  search?: string
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. */
  limit?: number
}

export interface CreateAccountInput {
  email: string
  username: string
  password: string
  firstname?: string | null
  lastname?: string | null
}

export interface GetAccountInput {
  user_id: string
}

export interface UpdateAccountInput {
  user_id: string
  is_active?: boolean
  is_superuser?: boolean
}

export interface ResetPasswordInput {
  user_id: string
  new_password: string
}

export interface CreateResetLinkInput {
  user_id: string
}

export interface ListAccountTokensInput {
  user_id: string
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. Without `limit` and `cursor`, the list is returned whole. */
  limit?: number
}

export interface RevokeAccountTokensInput {
  user_id: string
}

export interface ExportAccountInput {
  user_id: string
}

export interface EraseAccountInput {
  user_id: string
}

export type GetStatisticsInput = Record<string, never>

export interface ListAdminActionsInput {
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. */
  limit?: number
}

export interface CreateServiceInvitationInput {
  email?: string | null
}

export interface FindInvitationsInput {
  /** From the `Link` of the previous page. */
  cursor?: string
  /** The size of a page. */
  limit?: number
}

export interface RevokeAnyInvitationInput {
  invitation_id: string
}

/** Input and result of each operation. */
export interface Operations {
  register: { input: RegisterInput; result: User }
  login: { input: LoginInput; result: Token }
  logout: { input: LogoutInput; result: Message }
  logoutEverywhere: { input: LogoutEverywhereInput; result: Message }
  refresh: { input: RefreshInput; result: Token }
  createTicket: { input: CreateTicketInput; result: Ticket }
  getMe: { input: GetMeInput; result: User }
  updateMe: { input: UpdateMeInput; result: User }
  changePassword: { input: ChangePasswordInput; result: Message }
  resetPasswordByLink: { input: ResetPasswordByLinkInput; result: Message }
  readInvitation: { input: ReadInvitationInput; result: InvitationPreview }
  acceptInvitation: { input: AcceptInvitationInput; result: AcceptedInvitation }
  getUser: { input: GetUserInput; result: User }
  findUsers: { input: FindUsersInput; result: User[] }
  getHealth: { input: GetHealthInput; result: Health }
  getReadiness: { input: GetReadinessInput; result: Readiness }
  getLiveness: { input: GetLivenessInput; result: Liveness }
  createBoard: { input: CreateBoardInput; result: Board }
  listBoards: { input: ListBoardsInput; result: ListedBoard[] }
  getBoard: { input: GetBoardInput; result: FullBoard }
  updateBoard: { input: UpdateBoardInput; result: Board }
  deleteBoard: { input: DeleteBoardInput; result: undefined }
  archiveBoard: { input: ArchiveBoardInput; result: Board }
  restoreBoard: { input: RestoreBoardInput; result: Board }
  getBoardUsage: { input: GetBoardUsageInput; result: BoardUsage }
  inviteMember: { input: InviteMemberInput; result: Invited }
  listMembers: { input: ListMembersInput; result: BoardMember[] }
  updateMember: { input: UpdateMemberInput; result: BoardMember }
  removeMember: { input: RemoveMemberInput; result: undefined }
  createInvitation: { input: CreateInvitationInput; result: NewInvitation }
  listInvitations: { input: ListInvitationsInput; result: Invitation[] }
  revokeInvitation: { input: RevokeInvitationInput; result: undefined }
  createColumn: { input: CreateColumnInput; result: Column }
  updateColumn: { input: UpdateColumnInput; result: Column }
  deleteColumn: { input: DeleteColumnInput; result: undefined }
  archiveColumn: { input: ArchiveColumnInput; result: Column }
  moveColumn: { input: MoveColumnInput; result: Column }
  createCard: { input: CreateCardInput; result: Card }
  findCards: { input: FindCardsInput; result: Card[] }
  getCard: { input: GetCardInput; result: Card }
  updateCard: { input: UpdateCardInput; result: Card }
  deleteCard: { input: DeleteCardInput; result: undefined }
  archiveCard: { input: ArchiveCardInput; result: Card }
  moveCard: { input: MoveCardInput; result: Card }
  assignCard: { input: AssignCardInput; result: Card }
  unassignCard: { input: UnassignCardInput; result: undefined }
  addCardLabel: { input: AddCardLabelInput; result: Card }
  removeCardLabel: { input: RemoveCardLabelInput; result: undefined }
  listLabels: { input: ListLabelsInput; result: Label[] }
  countLabels: { input: CountLabelsInput; result: LabelUsage[] }
  createLabel: { input: CreateLabelInput; result: Label }
  updateLabel: { input: UpdateLabelInput; result: Label }
  deleteLabel: { input: DeleteLabelInput; result: undefined }
  createChecklist: { input: CreateChecklistInput; result: Checklist }
  updateChecklist: { input: UpdateChecklistInput; result: Checklist }
  deleteChecklist: { input: DeleteChecklistInput; result: undefined }
  moveChecklist: { input: MoveChecklistInput; result: Checklist }
  createItem: { input: CreateItemInput; result: ChecklistItem }
  updateItem: { input: UpdateItemInput; result: ChecklistItem }
  deleteItem: { input: DeleteItemInput; result: undefined }
  moveItem: { input: MoveItemInput; result: ChecklistItem }
  assignItem: { input: AssignItemInput; result: ChecklistItem }
  unassignItem: { input: UnassignItemInput; result: undefined }
  createComment: { input: CreateCommentInput; result: Comment }
  listComments: { input: ListCommentsInput; result: Comment[] }
  updateComment: { input: UpdateCommentInput; result: Comment }
  deleteComment: { input: DeleteCommentInput; result: undefined }
  createAttachment: { input: CreateAttachmentInput; result: Attachment }
  getAttachment: { input: GetAttachmentInput; result: Blob }
  deleteAttachment: { input: DeleteAttachmentInput; result: undefined }
  listRemoved: { input: ListRemovedInput; result: RemovedItem[] }
  getRemoved: { input: GetRemovedInput; result: DetailedRemovedItem }
  restoreRemoved: { input: RestoreRemovedInput; result: Restored }
  purgeRemoved: { input: PurgeRemovedInput; result: undefined }
  createRule: { input: CreateRuleInput; result: AutomationRule }
  listRules: { input: ListRulesInput; result: AutomationRule[] }
  updateRule: { input: UpdateRuleInput; result: AutomationRule }
  deleteRule: { input: DeleteRuleInput; result: undefined }
  listRuns: { input: ListRunsInput; result: AutomationRun[] }
  getPresence: { input: GetPresenceInput; result: Presence }
  listEvents: { input: ListEventsInput; result: LoggedEvent[] }
  listCardEvents: { input: ListCardEventsInput; result: LoggedEvent[] }
  createWebhook: { input: CreateWebhookInput; result: Webhook }
  listWebhooks: { input: ListWebhooksInput; result: Webhook[] }
  getWebhook: { input: GetWebhookInput; result: Webhook }
  updateWebhook: { input: UpdateWebhookInput; result: Webhook }
  deleteWebhook: { input: DeleteWebhookInput; result: undefined }
  resumeWebhook: { input: ResumeWebhookInput; result: Webhook }
  getWebhookSecret: { input: GetWebhookSecretInput; result: WebhookSecret }
  rotateWebhookSecret: { input: RotateWebhookSecretInput; result: Webhook }
  testWebhook: { input: TestWebhookInput; result: WebhookAttempt }
  listDeliveries: { input: ListDeliveriesInput; result: WebhookDelivery[] }
  listInbox: { input: ListInboxInput; result: InboxItem[] }
  getInboxSummary: { input: GetInboxSummaryInput; result: InboxSummary }
  updateInboxItem: { input: UpdateInboxItemInput; result: InboxItem }
  readInbox: { input: ReadInboxInput; result: InboxSummary }
  createToken: { input: CreateTokenInput; result: NewAccessToken }
  listTokens: { input: ListTokensInput; result: AccessToken[] }
  revokeToken: { input: RevokeTokenInput; result: undefined }
  revokeTokens: { input: RevokeTokensInput; result: undefined }
  listBoardTokens: { input: ListBoardTokensInput; result: BoardToken[] }
  revokeBoardToken: { input: RevokeBoardTokenInput; result: undefined }
  findAccounts: { input: FindAccountsInput; result: Account[] }
  createAccount: { input: CreateAccountInput; result: Account }
  getAccount: { input: GetAccountInput; result: Account }
  updateAccount: { input: UpdateAccountInput; result: Account }
  resetPassword: { input: ResetPasswordInput; result: Message }
  createResetLink: { input: CreateResetLinkInput; result: ResetLink }
  listAccountTokens: { input: ListAccountTokensInput; result: AccessToken[] }
  revokeAccountTokens: { input: RevokeAccountTokensInput; result: undefined }
  exportAccount: { input: ExportAccountInput; result: AccountExport }
  eraseAccount: { input: EraseAccountInput; result: undefined }
  getStatistics: { input: GetStatisticsInput; result: Statistics }
  listAdminActions: { input: ListAdminActionsInput; result: AdminAction[] }
  createServiceInvitation: { input: CreateServiceInvitationInput; result: NewInvitation }
  findInvitations: { input: FindInvitationsInput; result: Invitation[] }
  revokeAnyInvitation: { input: RevokeAnyInvitationInput; result: undefined }
}
export type OperationName = keyof Operations
