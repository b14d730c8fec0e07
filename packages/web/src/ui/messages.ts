import { defineMessages, params, plural } from './i18n.ts'

export const t = defineMessages('ui', {
  yourBoards: 'Your boards',
  messages: 'Messages',
  close: 'Close',
  cancel: 'Cancel',
  retry: 'Retry',
  optional: 'optional',
  create: params('Create “{name}”'),
  noMatches: 'No matches',
  unexpected: 'Something went wrong. Reload the page and try again.',
  details: 'Details for your administrator',
  tooLong: params('Too long: {length} of {max} characters'),
  moreChanges: plural({ one: '{first} And one more change.', other: '{first} And {count} more changes.' }),
  textCopied: 'Text copied',
  clipboardBlocked: 'Couldn’t copy: the browser blocked clipboard access.',
  today: 'Today',
  yesterday: 'Yesterday',
  people: params('{label}: {names}'),
})
