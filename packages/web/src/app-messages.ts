import { defineMessages } from './ui/i18n.ts'

export const t = defineMessages('app', {
  skipToContent: 'Skip to content',
  loading: 'Loading…',
  pageNotFound: 'Page not found',
  checkAddress: 'Check the address, or go back to your boards.',
  yourBoards: 'Your boards',
  somethingWentWrong: 'Something went wrong',
  changesAreSaved: 'Your changes are saved in this browser. Reload the page to continue.',
  reload: 'Reload',
  unreachable: 'Can’t reach the server',
  retrying: 'Retrying every three seconds…',
  retry: 'Retry',
})
