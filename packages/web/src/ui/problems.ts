import type { ErrorCode } from '@lockstep/client'
import { defineMessages } from './i18n.ts'

/** The problems that people meet, by their stable code. */
const messages = defineMessages('problems', {
  network_failed: 'Can’t reach the server. Check your connection and retry.',
  timed_out: 'Can’t reach the server. Check your connection and retry.',
  not_authenticated: 'You are logged out. Log in again.',
  login_failed: 'Wrong email or password.',
  session_too_old: 'You are logged out. Log in again.',
  wrong_password: 'That is not your current password.',
  email_taken: 'This email already has an account. Log in instead.',
  username_taken: 'This username is taken. Choose another one.',
  registration_closed: 'Registration is closed. Ask for an invitation link.',
  link_invalid: 'This link is not valid: it was used, has expired, or was revoked.',
  wrong_invited_email: 'This invitation is for another email address.',
  invitation_not_found: 'This invitation was already used or revoked.',
  too_many_invitations: 'There are too many pending invitations. Revoke some first.',
  not_a_member: 'You are not a member of this board.',
  role_too_low: 'Only an owner of the board may do this.',
  login_too_old: 'Log in again to do this.',
  too_many_tokens: 'You have 50 access tokens. Revoke one first.',
  token_not_found: 'The access token was revoked.',
  board_not_found: 'The board was deleted.',
  column_not_found: 'The column was deleted.',
  card_not_found: 'The card was deleted.',
  label_not_found: 'The label was deleted.',
  checklist_not_found: 'The checklist was deleted.',
  item_not_found: 'The checklist item was deleted.',
  attachment_not_found: 'The file was deleted.',
  rule_not_found: 'The rule was deleted.',
  webhook_not_found: 'The webhook was deleted.',
  too_many_webhooks: 'The board has 10 webhooks. Delete one first.',
  removed_not_found: 'It was already restored or deleted for good.',
  board_archived: 'The board is archived. An owner can restore it.',
  column_required: 'Its column does not exist anymore. Choose another one.',
  member_not_found: 'This person is no longer a member of the board.',
  already_a_member: 'This person is already a member of the board.',
  too_many_rules: 'A board can have at most 100 rules.',
  board_text_limit: 'The board is full: it has reached its limit of text. Delete something first.',
  board_card_limit: 'The board is full: it has reached its limit of cards. Delete some first.',
  board_file_limit: 'The board has reached its limit of files. Delete some first.',
  owned_board_limit: 'You have reached your limit of boards. Delete one first.',
  too_many_requests: 'Too many requests. Try again later.',
} satisfies Partial<Record<ErrorCode, string>>)

interface Problem {
  code: string
  detail: string
}

/** The message for a problem. The server's own text is the fallback: some contain a field or a limit. */
export const problemMessage = ({ code, detail }: Problem): string =>
  (messages as Partial<Record<string, string>>)[code] ?? detail
