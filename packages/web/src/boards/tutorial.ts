import { t } from './tutorial-messages.ts'

const labels = {
  startHere: { name: t.startHere, color: '#16a34a' },
  keyboard: { name: t.keyboard, color: '#2563eb' },
  together: { name: t.together, color: '#9333ea' },
  offline: { name: t.offline, color: '#d97706' },
  writing: { name: t.writing, color: '#0891b2' },
}
const { startHere, keyboard, together, offline, writing } = labels

export interface TutorialCard {
  title: string
  description: string
  /** Names of labels. */
  labels: readonly string[]
  /** The first `done` items are checked off. */
  checklist?: { title: string; items: readonly string[]; done: number }
  isMine?: boolean
}

/** The cards of the tutorial. Each is something to try. */
export const tutorialCards = {
  drag: { title: t.drag, description: t.dragText, labels: [startHere.name] },
  share: { title: t.share, description: t.shareText, labels: [startHere.name, together.name] },
  newCard: { title: t.newCard, description: t.newCardText, labels: [keyboard.name] },
  arrows: { title: t.arrows, description: t.arrowsText, labels: [keyboard.name] },
  image: { title: t.image, description: t.imageText, labels: [writing.name] },
  network: {
    title: t.network,
    description: t.networkText,
    labels: [offline.name],
    checklist: {
      title: t.networkSteps,
      items: [t.networkStep1, t.networkStep2, t.networkStep3, t.networkStep4],
      done: 0,
    },
    isMine: true,
  },
  items: {
    title: t.items,
    description: t.itemsText,
    labels: [together.name],
    checklist: { title: t.picnic, items: [t.picnic1, t.picnic2, t.picnic3, t.picnic4, t.picnic5], done: 3 },
  },
  markdown: { title: t.markdown, description: t.markdownText, labels: [writing.name] },
  twoWindows: { title: t.twoWindows, description: t.twoWindowsText, labels: [together.name, writing.name] },
  undo: { title: t.undo, description: t.undoText, labels: [keyboard.name] },
  opened: { title: t.opened, description: t.openedText, labels: [startHere.name], isMine: true },
} satisfies Record<string, TutorialCard>
export type TutorialCardName = keyof typeof tutorialCards

export interface TutorialColumn {
  title: string
  color: string
  is_done_column: boolean
  cards: readonly TutorialCardName[]
}
export const tutorialColumns: Record<'inbox' | 'inProgress' | 'review' | 'done', TutorialColumn> = {
  inbox: {
    title: t.inbox,
    color: '#6b7280',
    is_done_column: false,
    cards: ['drag', 'share', 'newCard', 'arrows', 'image'],
  },
  inProgress: {
    title: t.inProgress,
    color: '#2563eb',
    is_done_column: false,
    cards: ['network', 'items', 'markdown'],
  },
  review: { title: t.review, color: '#d97706', is_done_column: false, cards: ['twoWindows', 'undo'] },
  done: { title: t.done, color: '#16a34a', is_done_column: true, cards: ['opened'] },
}

const cardOf = (name: TutorialCardName): TutorialCard => tutorialCards[name]

/** The tutorial board of one user. The demo builds its own from the same parts. */
export const tutorial = {
  title: t.title,
  description: t.description,
  labels: Object.values(labels),
  columns: Object.values(tutorialColumns).map((column) => ({
    ...column,
    // A rule assigns the cards that are moved to this column.
    ...(column === tutorialColumns.review && { rule: t.rule }),
    cards: column.cards.map(cardOf),
  })),
}
