/** All shortcuts of the web client. The `?` dialog, docs/shortcuts.md and a test that presses every key use this table. */
export interface Shortcut {
  /** Alternatives. Modifiers come first; `then` separates the keys of a sequence. */
  keys: string[]
  does: string
  /** Handled by the browser: Enter follows a link, Escape closes a dialog. */
  isNative?: true
}
export interface ScreenKeys {
  screen: 'everywhere' | 'boards' | 'board' | 'focusedCard' | 'card' | 'description' | 'checklist' | 'members'
  title: string
  rows: Shortcut[]
}

export const shortcuts: ScreenKeys[] = [
  {
    screen: 'everywhere',
    title: 'Everywhere',
    rows: [
      { keys: ['Ctrl K'], does: 'Open the command palette to search cards, boards and actions' },
      { keys: ['?'], does: 'Show keyboard shortcuts' },
      { keys: ['G then B'], does: 'Go to your boards' },
      { keys: ['Esc'], does: 'Close the topmost dialog or menu', isNative: true },
    ],
  },
  {
    screen: 'boards',
    title: 'Board list',
    rows: [
      { keys: ['N'], does: 'Create a board' },
      { keys: ['/'], does: 'Find a board (with more than eight boards)' },
      { keys: ['↑', '↓', '←', '→'], does: 'Move between boards' },
      { keys: ['Enter'], does: 'Open the board', isNative: true },
    ],
  },
  {
    screen: 'board',
    title: 'Board',
    rows: [
      { keys: ['N'], does: 'Add a card' },
      { keys: ['C'], does: 'Add a column' },
      { keys: ['/'], does: 'Filter cards' },
      { keys: ['F'], does: 'Show only my cards, or all cards' },
      { keys: ['Esc'], does: 'Clear the filter' },
      { keys: ['Ctrl Z'], does: 'Undo' },
      { keys: ['Ctrl Shift Z', 'Ctrl Y'], does: 'Redo' },
      { keys: ['G then A'], does: 'Open the activity log' },
    ],
  },
  {
    screen: 'focusedCard',
    title: 'Focused card',
    rows: [
      { keys: ['↑', '↓', '←', '→'], does: 'Move between cards' },
      { keys: ['Home', 'End'], does: 'Go to the first or last card of the column' },
      { keys: ['Shift ↑', 'Shift ↓'], does: 'Move the card up or down' },
      { keys: ['Shift ←', 'Shift →'], does: 'Move the card to the previous or next column' },
      { keys: ['Shift Home', 'Shift End'], does: 'Move the card to the top or bottom of its column' },
      { keys: ['M'], does: 'Choose a column and position to move to' },
      { keys: ['Enter'], does: 'Open the card', isNative: true },
      { keys: ['E'], does: 'Edit title' },
      { keys: ['N'], does: 'Add a card below' },
      { keys: ['Shift N'], does: 'Add a card at the top of the column' },
      { keys: ['L'], does: 'Labels' },
      { keys: ['A'], does: 'Assignees' },
      { keys: ['Space'], does: 'Assign or unassign me' },
      { keys: ['.', 'Shift F10'], does: 'Open the card’s menu' },
      { keys: ['Ctrl C'], does: 'Copy link' },
      { keys: ['Del'], does: 'Delete the card' },
      { keys: ['[', ']'], does: 'Go to the menu of the previous or next column' },
    ],
  },
  {
    screen: 'card',
    title: 'Open card',
    rows: [
      { keys: ['E'], does: 'Edit title' },
      { keys: ['M'], does: 'Choose a column and position to move to' },
      { keys: ['L'], does: 'Labels' },
      { keys: ['A'], does: 'Assignees' },
      { keys: ['K'], does: 'Add a checklist' },
      { keys: ['U'], does: 'Attach files' },
      { keys: ['Ctrl ↑', 'Ctrl ↓'], does: 'Go to the previous or next card' },
      { keys: ['Ctrl Z'], does: 'Undo' },
      { keys: ['Ctrl Shift Z', 'Ctrl Y'], does: 'Redo' },
      { keys: ['Esc'], does: 'Close the card; unsaved text is kept as a draft', isNative: true },
    ],
  },
  {
    screen: 'description',
    title: 'Editing a description',
    rows: [
      { keys: ['Ctrl B'], does: 'Bold' },
      { keys: ['Ctrl I'], does: 'Italic' },
      { keys: ['Ctrl K'], does: 'Link' },
      { keys: ['Ctrl Enter'], does: 'Save' },
      { keys: ['Esc'], does: 'Stop editing; the text is kept as a draft' },
    ],
  },
  {
    screen: 'checklist',
    title: 'Checklist item',
    rows: [{ keys: ['Shift ↑', 'Shift ↓'], does: 'Move the item up or down' }],
  },
  {
    screen: 'members',
    title: 'Members',
    rows: [{ keys: ['I'], does: 'Find a person to invite' }],
  },
]

/** The parts of the table that apply to a path. */
export function screensAt(path: string): ScreenKeys['screen'][] {
  if (/\/b\/[^/]+\/c\//.test(path)) return ['card', 'description', 'checklist']
  if (/\/b\/[^/]+\/members/.test(path)) return ['members']
  if (/\/b\/[^/]+/.test(path)) return ['focusedCard', 'board']
  return path.endsWith('/boards') ? ['boards'] : []
}

/** Single-key shortcuts: one character without Ctrl. The user can turn them off. */
export const isLetterKey = (keys: string) => /^(Shift )?(.|Space)( then .)?$/u.test(keys) && !/[↑↓←→]/.test(keys)
