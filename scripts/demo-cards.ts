import {
  type TutorialCard,
  type TutorialCardName,
  tutorial,
  tutorialCards,
  tutorialColumns,
} from '../packages/web/src/boards/tutorial.ts'

/** The demo board: the tutorial of the web client, for two people. */
export const people = {
  ada: { email: 'ada@example.com', username: 'ada', firstname: 'Ada', lastname: 'Lovelace' },
  grace: { email: 'grace@example.com', username: 'grace', firstname: 'Grace', lastname: 'Hopper' },
} as const
export type PersonName = keyof typeof people

export const board = {
  title: tutorial.title,
  description: `${tutorial.description} Open both links side by side.`,
}
export const { labels } = tutorial

export interface DemoCard extends TutorialCard {
  assignees?: readonly PersonName[]
  /** Due so many days after today. */
  dueInDays?: number
  file?: { name: string; type: string; text: string }
  /** Who says what; `@grace` and `@ada` mention. */
  comments?: readonly { by: PersonName; text: string }[]
}

/** An automation rule: a card that is moved to this column is assigned to this person. */
export const rule = { name: 'Grace reviews', column: tutorialColumns.review.title, assigns: 'grace' } as const

const FIRST_STEPS = `Lockstep, in four lines

Every change and its event are written in one transaction.
Every client on a board gets all events exactly once and in the same order.
A client that reconnects sends the last number it saw, and gets the events it missed.
Changes made offline are queued and sent on reconnect.
`

/** The cards with their assignees. Both users are on the board already, so nobody has to be invited. */
const cards: Record<TutorialCardName, DemoCard> = {
  ...tutorialCards,
  drag: { ...tutorialCards.drag, assignees: ['ada'], dueInDays: 0 },
  share: {
    ...tutorialCards.share,
    title: 'Open the other link side by side',
    description:
      'The demo printed two links: you are Ada in one window and Grace in the other. Move a card in one, and watch the other.',
    assignees: ['ada', 'grace'],
    dueInDays: 1,
    comments: [
      { by: 'ada', text: '@grace can you see this comment? It arrived without a reload.' },
      { by: 'grace', text: 'Yes, and it is in my inbox. @ada **look at yours**.' },
    ],
  },
  network: { ...tutorialCards.network, assignees: ['ada'], dueInDays: -1 },
  items: {
    ...tutorialCards.items,
    assignees: ['grace'],
    dueInDays: 3,
    comments: [{ by: 'grace', text: '@ada the first item is done. Can you take the second?' }],
  },
  twoWindows: { ...tutorialCards.twoWindows, assignees: ['ada', 'grace'] },
  undo: { ...tutorialCards.undo, assignees: ['grace'] },
  opened: { ...tutorialCards.opened, assignees: ['ada'] },
}
const fileCard: DemoCard = {
  title: 'Read the attached file',
  description: 'How it works, in four lines. The API documentation is at [/docs](/docs).',
  labels: tutorialCards.markdown.labels,
  file: { name: 'how-it-works.txt', type: 'text/plain', text: FIRST_STEPS },
}

export const columns = Object.values(tutorialColumns).map((column) => ({
  title: column.title,
  color: column.color,
  is_done_column: column.is_done_column,
  cards: [...column.cards.map((name) => cards[name]), ...(column.is_done_column ? [fileCard] : [])],
}))

/** A card that is archived, so that there is something to restore. */
export const archivedCard = {
  title: 'Restore me',
  description: 'This card was archived. Restore it from “Archive and trash” in the menu of the board.',
}
