import { defineMessages, params } from '../ui/i18n.ts'

export const t = defineMessages('boards', {
  boards: 'Boards',
  search: 'Search…',
  boardName: 'Board name',
  createBoard: 'Create board',
  creatingBoard: 'Creating…',
  findBoard: 'Find board',
  noMatch: params('No boards match “{text}”'),
  unreachable: 'Can’t reach the server. You can still open the boards that are saved in this browser.',

  welcome: 'Create your first board',
  welcomeText: 'A board has columns, and cards that move through them. Everyone you invite sees every change at once.',
  tutorialText: 'New to Lockstep? On the tutorial board, every card is something to try.',
  startTutorial: 'Start with a tutorial board',
  creatingTutorial: 'Creating the tutorial board…',

  ownedBy: params('Owned by {name}'),
  noOpenCards: 'No open cards',
  openCards: params('{open} open'),
  openAndMine: params('{open} open · {mine} yours'),
  changed: params('Changed {time}'),
  changedNow: 'Changed just now',
  notOffline: 'Not available offline',
  members: 'Members',
  archived: params('Archived ({count})'),
  actionsFor: params('Actions for {title}'),
  archiveBoard: 'Archive board',
  restoreBoard: 'Restore board',
})
