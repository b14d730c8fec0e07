import { defineMessages, params } from '../ui/i18n.ts'

export const t = defineMessages('tokens', {
  accessTokens: 'Access tokens',
  hint: 'Let scripts and bots use your boards without your password. A token acts as you, within its limits.',
  turnedOff: 'Access tokens are turned off on this installation.',
  loading: 'Loading…',
  none: 'You have no access tokens.',

  newToken: 'New token',
  name: 'Name',
  nameHint: 'What it is for, such as “Nightly report”.',
  enterName: 'Enter a name.',
  scope: 'Permission',
  read: 'Read',
  write: 'Read and change',
  admin: 'Everything that owners may do',
  board: 'Boards',
  moreBoards: 'Show more boards in this list',
  allBoards: 'All boards',
  lifetime: 'Expires after',
  days7: '7 days',
  days30: '30 days',
  days90: '90 days',
  days365: '1 year',
  create: 'Create token',
  creating: 'Creating…',
  cancel: 'Cancel',
  logInAgain: 'Log in again',
  logInAgainText: 'To create an access token, you must have logged in within the last hour.',

  copyNow: params('Copy the token “{name}” now. It is not shown again.'),
  token: 'Token',
  copy: 'Copy',
  copied: 'Token copied',
  done: 'Done',

  endsWith: params('ends with {hint}'),
  by: params('by {name}'),
  lastUsed: params('last used {when}'),
  neverUsed: 'never used',
  expires: params('expires {when}'),
  expired: 'expired',
  neverExpires: 'never expires',
  unknownBoard: 'A board',

  revoke: 'Revoke',
  revokeTitle: params('Revoke “{name}”?'),
  revokeText: 'Programs that use this token stop working at once. This cannot be undone.',
  revoked: params('Revoked “{name}”'),
})

export const scopeNames = { read: t.read, write: t.write, admin: t.admin }
