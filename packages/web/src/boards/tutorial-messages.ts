import { defineMessages } from '../ui/i18n.ts'

export const t = defineMessages('tutorial', {
  title: 'Welcome to Lockstep',
  description: 'Every card is something to try.',

  inbox: 'Inbox',
  inProgress: 'In progress',
  review: 'Review',
  done: 'Done',
  rule: 'Assign reviews to me',

  startHere: 'start here',
  keyboard: 'keyboard',
  together: 'together',
  offline: 'offline',
  writing: 'writing',

  drag: 'Drag me to Review',
  dragText: 'A rule assigns every card that is moved to **Review**. It’s in the board menu, under *Automation*.',
  share: 'Invite someone',
  shareText: 'Press **Share** and enter a name. Everyone on a board sees every change at once, and who else is there.',
  newCard: 'Press N to add a card',
  newCardText: 'Type a title and press Enter. The card appears at once, and is saved in the background.',
  arrows: 'Shift + an arrow key moves a card',
  arrowsText: 'The arrow keys alone move the focus. Everything on this board works without a mouse.',
  image: 'Open me and paste an image',
  imageText: 'For example a screenshot. You can also drop files here, or on a card of the board.',

  network: 'Turn off the network and keep working',
  networkText: 'Changes made offline are saved, and sent when the network is back: once, and in order.',
  networkSteps: 'Steps',
  networkStep1: 'Open this board in two windows',
  networkStep2: 'Turn off the network in one of them, in the developer tools of the browser',
  networkStep3: 'Move and rename some cards in both windows',
  networkStep4: 'Turn it on again, and compare both windows',
  items: 'Check off items',
  itemsText: 'Each item is saved separately: two people can check items off at the same time.',
  picnic: 'Picnic',
  picnic1: 'Blanket',
  picnic2: 'Bread',
  picnic3: 'Cheese',
  picnic4: 'Lemonade',
  picnic5: 'Sun',
  markdown: 'Write in Markdown',
  markdownText: `A description is **Markdown**, with all of its *usual* parts:

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

> Edit this and see how it looks.`,

  twoWindows: 'Edit one card in two windows at once',
  twoWindowsText: 'Open this card in a second window too, and change this text in both of them.\n\nNo text is lost.',
  undo: 'Undo a change',
  undoText: 'Ctrl + Z undoes your own last change, and keeps what others have changed since.',

  opened: 'Open this board',
  openedText: 'Move each card here when you have tried it. Cards in this column no longer count as open.',
})
