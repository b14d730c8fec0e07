import { t } from './messages.ts'

/** All shortcuts of the web client. The `?` dialog, docs/shortcuts.md and a test that presses every key use this table. */
export interface Shortcut {
  /** Alternatives. Modifiers come first; `then` separates the keys of a sequence. */
  keys: string[]
  does: string
  /** Handled by the browser: Enter follows a link, Escape closes a dialog. */
  isNative?: true
}
export interface ScreenKeys {
  screen:
    | 'everywhere'
    | 'boards'
    | 'inbox'
    | 'board'
    | 'focusedCard'
    | 'card'
    | 'description'
    | 'comment'
    | 'checklist'
    | 'members'
  title: string
  rows: Shortcut[]
}

export const shortcuts: ScreenKeys[] = [
  {
    screen: 'everywhere',
    title: t.everywhere,
    rows: [
      { keys: ['Ctrl K'], does: t.openPalette },
      { keys: ['?'], does: t.showShortcuts },
      { keys: ['G then B'], does: t.goToBoards },
      { keys: ['G then I'], does: t.goToInbox },
      { keys: ['Esc'], does: t.closeTopmost, isNative: true },
    ],
  },
  {
    screen: 'boards',
    title: t.boardList,
    rows: [
      { keys: ['N'], does: t.createBoard },
      { keys: ['/'], does: t.findBoard },
      { keys: ['↑', '↓', '←', '→'], does: t.moveBetweenBoards },
      { keys: ['Enter'], does: t.openBoard, isNative: true },
    ],
  },
  {
    screen: 'inbox',
    title: t.inbox,
    rows: [
      { keys: ['↑', '↓'], does: t.moveBetweenItems },
      { keys: ['Enter'], does: t.openItem, isNative: true },
    ],
  },
  {
    screen: 'board',
    title: t.board,
    rows: [
      { keys: ['N'], does: t.addCard },
      { keys: ['C'], does: t.addColumn },
      { keys: ['/'], does: t.filterCards },
      { keys: ['F'], does: t.showMyCards },
      { keys: ['Esc'], does: t.clearFilter },
      { keys: ['Ctrl Z'], does: t.undo },
      { keys: ['Ctrl Shift Z', 'Ctrl Y'], does: t.redo },
      { keys: ['G then A'], does: t.openActivity },
      { keys: ['G then R'], does: t.openRemoved },
    ],
  },
  {
    screen: 'focusedCard',
    title: t.focusedCard,
    rows: [
      { keys: ['↑', '↓', '←', '→'], does: t.moveBetweenCards },
      { keys: ['Home', 'End'], does: t.goToFirstOrLastCard },
      { keys: ['Shift ↑', 'Shift ↓'], does: t.moveCardUpOrDown },
      { keys: ['Shift ←', 'Shift →'], does: t.moveCardToNeighbouringColumn },
      { keys: ['Shift Home', 'Shift End'], does: t.moveCardToTopOrBottom },
      { keys: ['M'], does: t.chooseWhereToMove },
      { keys: ['Enter'], does: t.openCard, isNative: true },
      { keys: ['E'], does: t.editTitle },
      { keys: ['N'], does: t.addCardBelow },
      { keys: ['Shift N'], does: t.addCardAtTop },
      { keys: ['L'], does: t.labels },
      { keys: ['A'], does: t.assignees },
      { keys: ['D'], does: t.dueDate },
      { keys: ['Space'], does: t.toggleMe },
      { keys: ['.', 'Shift F10'], does: t.openCardMenu },
      { keys: ['Ctrl C'], does: t.copyLink },
      { keys: ['Del'], does: t.archiveCard },
      { keys: ['Shift Del'], does: t.deleteCard },
      { keys: ['[', ']'], does: t.goToColumnMenu },
    ],
  },
  {
    screen: 'card',
    title: t.openedCard,
    rows: [
      { keys: ['E'], does: t.editTitle },
      { keys: ['M'], does: t.chooseWhereToMove },
      { keys: ['L'], does: t.labels },
      { keys: ['A'], does: t.assignees },
      { keys: ['D'], does: t.dueDate },
      { keys: ['K'], does: t.addChecklist },
      { keys: ['U'], does: t.attachFiles },
      { keys: ['C'], does: t.writeComment },
      { keys: ['Ctrl ↑', 'Ctrl ↓'], does: t.goToNeighbouringCard },
      { keys: ['Ctrl Z'], does: t.undo },
      { keys: ['Ctrl Shift Z', 'Ctrl Y'], does: t.redo },
      { keys: ['Esc'], does: t.closeCard, isNative: true },
    ],
  },
  {
    screen: 'description',
    title: t.editingDescription,
    rows: [
      { keys: ['Ctrl B'], does: t.bold },
      { keys: ['Ctrl I'], does: t.italic },
      { keys: ['Ctrl K'], does: t.link },
      { keys: ['Ctrl Enter'], does: t.save },
      { keys: ['Esc'], does: t.stopEditing },
    ],
  },
  {
    screen: 'comment',
    title: t.writingComment,
    rows: [
      { keys: ['Ctrl Enter'], does: t.send },
      { keys: ['Esc'], does: t.stopEditing },
    ],
  },
  {
    screen: 'checklist',
    title: t.checklistItem,
    rows: [{ keys: ['Shift ↑', 'Shift ↓'], does: t.moveItemUpOrDown }],
  },
  {
    screen: 'members',
    title: t.members,
    rows: [{ keys: ['I'], does: t.findPersonToInvite }],
  },
]

/** The parts of the table that apply to a path. */
export function screensAt(path: string): ScreenKeys['screen'][] {
  if (/\/b\/[^/]+\/c\//.test(path)) return ['card', 'description', 'comment', 'checklist']
  if (/\/b\/[^/]+\/members/.test(path)) return ['members']
  if (/\/b\/[^/]+/.test(path)) return ['focusedCard', 'board']
  if (path.endsWith('/inbox')) return ['inbox']
  return path.endsWith('/boards') ? ['boards'] : []
}

/** Single-key shortcuts: one character without Ctrl. The user can turn them off. */
export const isLetterKey = (keys: string) => /^(Shift )?(.|Space)( then .)?$/u.test(keys) && !/[↑↓←→]/.test(keys)
