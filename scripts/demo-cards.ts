/** The board of the demo: its cards are the tutorial. */
export const people = {
  ada: { email: 'ada@example.com', username: 'ada', firstname: 'Ada', lastname: 'Lovelace' },
  grace: { email: 'grace@example.com', username: 'grace', firstname: 'Grace', lastname: 'Hopper' },
} as const
export type PersonName = keyof typeof people

export const board = {
  title: 'Welcome to Lockstep',
  description: 'Every card here is something to try. Open the second link beside the first, and watch both.',
}

export const labels = {
  'start here': '#16a34a',
  keyboard: '#2563eb',
  together: '#9333ea',
  offline: '#d97706',
  writing: '#0891b2',
} as const

interface DemoCard {
  title: string
  description: string
  labels: (keyof typeof labels)[]
  assignees?: PersonName[]
  /** The first `done` items are ticked. */
  checklist?: { title: string; items: string[]; done: number }
  file?: { name: string; type: string; text: string }
}
interface DemoColumn {
  title: string
  color: string
  is_done_column?: boolean
  cards: DemoCard[]
}

/** Whoever moves a card to this column asks this person to look at it. */
export const rule = { name: 'Grace reviews', column: 'Review', assigns: 'grace' } as const

const MARKDOWN = `A description is **Markdown**, with all of its *usual* parts:

- lists, and [links](https://commonmark.org/help/)
- \`code\`, in a line or in a block
- ~~what is no longer true~~

\`\`\`ts
const board = await client.createBoard({ title: 'Plan' })
\`\`\`

| Who   | Wrote             |
| ----- | ----------------- |
| Ada   | the first program |
| Grace | the first linker  |

> Change something, and see how it looks.`

const FIRST_STEPS = `Lockstep, in four lines

Every change is written together with its event, in one transaction.
Events reach everybody on the board in one order, without a gap, once.
Who was away comes back with the number he saw last, and is given what he missed.
What you change while you are away is sent when you are back.
`

export const columns: DemoColumn[] = [
  {
    title: 'Inbox',
    color: '#6b7280',
    cards: [
      {
        title: 'Drag me to Review',
        description: `Whatever is moved to **Review** is assigned to Grace: this board has an automation rule, *${rule.name}*, which sees to it.`,
        labels: ['start here'],
        assignees: ['ada'],
      },
      {
        title: 'Open the other link beside this window',
        description:
          'The demo printed two links: you are Ada in one window and Grace in the other. Move a card in one of them and look at the other.',
        labels: ['start here', 'together'],
        assignees: ['ada', 'grace'],
      },
      {
        title: 'Press N to add a card',
        description: 'Type a title and press Enter. The card is there at once; the service is told meanwhile.',
        labels: ['keyboard'],
      },
      {
        title: 'Shift + an arrow key moves a card',
        description: 'The arrow keys alone go from card to card. Nothing on this board needs a mouse.',
        labels: ['keyboard'],
      },
      {
        title: 'Open me and paste an image',
        description: 'A screenshot will do. Files can also be dropped here, or on a card of the board.',
        labels: ['writing'],
      },
    ],
  },
  {
    title: 'In progress',
    color: '#2563eb',
    cards: [
      {
        title: 'Turn off the network and keep working',
        description:
          'What you change without a network is kept, and sent when the network is back: once, and in order.',
        labels: ['offline'],
        assignees: ['ada'],
        checklist: {
          title: 'How to try it',
          items: [
            'Open both links',
            'Turn off the network for one of the windows, in the developer tools of the browser',
            'Move and rename some cards in both windows',
            'Turn it on again, and compare',
          ],
          done: 1,
        },
      },
      {
        title: 'Tick off what is done',
        description: 'Each tick is a change of its own: two people can tick at the same time.',
        labels: ['together'],
        assignees: ['grace'],
        checklist: { title: 'For a picnic', items: ['Blanket', 'Bread', 'Cheese', 'Lemonade', 'Sun'], done: 3 },
      },
      { title: 'Write in Markdown', description: MARKDOWN, labels: ['writing'] },
    ],
  },
  {
    title: 'Review',
    color: '#d97706',
    cards: [
      {
        title: 'Change one card in both windows at once',
        description: "Write here as Ada and as Grace at the same time.\n\nNobody's words are lost.",
        labels: ['together', 'writing'],
        assignees: ['ada', 'grace'],
      },
      {
        title: 'Take a change back',
        description: 'Ctrl + Z takes back your own last change, and leaves alone what others have done since.',
        labels: ['keyboard'],
        assignees: ['grace'],
      },
    ],
  },
  {
    title: 'Done',
    color: '#16a34a',
    is_done_column: true,
    cards: [
      {
        title: 'Start the demo',
        description: 'Ctrl-C in its terminal ends it, and deletes all of this.',
        labels: ['start here'],
        assignees: ['ada'],
        checklist: { title: 'Steps', items: ['npm ci', 'npm run demo', 'Open a link'], done: 3 },
      },
      {
        title: 'Read the attached file',
        description: 'How it works, in four lines. The documents of the API are under [/docs](/docs).',
        labels: ['writing'],
        file: { name: 'how-it-works.txt', type: 'text/plain', text: FIRST_STEPS },
      },
    ],
  },
]
