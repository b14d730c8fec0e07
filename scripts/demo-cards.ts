/** The demo board. Its cards are a tutorial. */
export const people = {
  ada: { email: 'ada@example.com', username: 'ada', firstname: 'Ada', lastname: 'Lovelace' },
  grace: { email: 'grace@example.com', username: 'grace', firstname: 'Grace', lastname: 'Hopper' },
} as const
export type PersonName = keyof typeof people

export const board = {
  title: 'Welcome to Lockstep',
  description: 'Every card is something to try. Open both links side by side.',
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
  /** The first `done` items are checked off. */
  checklist?: { title: string; items: string[]; done: number }
  file?: { name: string; type: string; text: string }
}
interface DemoColumn {
  title: string
  color: string
  is_done_column?: boolean
  cards: DemoCard[]
}

/** An automation rule: a card that is moved to this column is assigned to this person. */
export const rule = { name: 'Grace reviews', column: 'Review', assigns: 'grace' } as const

const MARKDOWN = `A description is **Markdown**, with all of its *usual* parts:

- lists, and [links](https://commonmark.org/help/)
- \`code\`, in a line or in a block
- ~~strikethrough~~

\`\`\`ts
const board = await client.createBoard({ title: 'Plan' })
\`\`\`

| Who   | Wrote             |
| ----- | ----------------- |
| Ada   | the first program |
| Grace | the first linker  |

> Edit this and see how it looks.`

const FIRST_STEPS = `Lockstep, in four lines

Every change and its event are written in one transaction.
Every client on a board gets all events exactly once and in the same order.
A client that reconnects sends the last number it saw, and gets the events it missed.
Changes made offline are queued and sent on reconnect.
`

export const columns: DemoColumn[] = [
  {
    title: 'Inbox',
    color: '#6b7280',
    cards: [
      {
        title: 'Drag me to Review',
        description: `The automation rule *${rule.name}* of this board assigns every card that is moved to **Review** to Grace.`,
        labels: ['start here'],
        assignees: ['ada'],
      },
      {
        title: 'Open the other link side by side',
        description:
          'The demo printed two links: you are Ada in one window and Grace in the other. Move a card in one, and watch the other.',
        labels: ['start here', 'together'],
        assignees: ['ada', 'grace'],
      },
      {
        title: 'Press N to add a card',
        description: 'Type a title and press Enter. The card appears at once, and is saved in the background.',
        labels: ['keyboard'],
      },
      {
        title: 'Shift + an arrow key moves a card',
        description: 'The arrow keys alone move the focus. Everything on this board works without a mouse.',
        labels: ['keyboard'],
      },
      {
        title: 'Open me and paste an image',
        description: 'For example a screenshot. You can also drop files here, or on a card of the board.',
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
        description: 'Changes made offline are saved, and sent when the network is back: once, and in order.',
        labels: ['offline'],
        assignees: ['ada'],
        checklist: {
          title: 'Steps',
          items: [
            'Open both links',
            'Turn off the network for one of the windows, in the developer tools of the browser',
            'Move and rename some cards in both windows',
            'Turn it on again, and compare both windows',
          ],
          done: 1,
        },
      },
      {
        title: 'Check off items',
        description: 'Each item is saved separately: two people can check items off at the same time.',
        labels: ['together'],
        assignees: ['grace'],
        checklist: { title: 'Picnic', items: ['Blanket', 'Bread', 'Cheese', 'Lemonade', 'Sun'], done: 3 },
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
        description: 'Edit this as Ada and as Grace at the same time.\n\nNo text is lost.',
        labels: ['together', 'writing'],
        assignees: ['ada', 'grace'],
      },
      {
        title: 'Undo a change',
        description: 'Ctrl + Z undoes your own last change, and keeps what others have changed since.',
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
        description: 'Ctrl-C in its terminal stops it and deletes all of its data.',
        labels: ['start here'],
        assignees: ['ada'],
        checklist: { title: 'Steps', items: ['npm ci', 'npm run demo', 'Open a link'], done: 3 },
      },
      {
        title: 'Read the attached file',
        description: 'How it works, in four lines. The API documentation is at [/docs](/docs).',
        labels: ['writing'],
        file: { name: 'how-it-works.txt', type: 'text/plain', text: FIRST_STEPS },
      },
    ],
  },
]
