/**
 * Every key of the web client, once: the sheet that `?` opens, the page in the docs and a test that presses each of them are
 * made of this table.
 */
export interface Shortcut {
  /** Each of them does it. Modifiers first; `then` between keys that are pressed one after the other. */
  keys: string[]
  does: string
  /** The browser does it by itself: a link follows Enter, a dialog closes on Escape. */
  is_native?: true
}
export interface ScreenKeys {
  screen: 'everywhere' | 'boards' | 'board' | 'focused_card' | 'card' | 'description' | 'checklist' | 'members'
  title: string
  rows: Shortcut[]
}

export const shortcuts: ScreenKeys[] = [
  {
    screen: 'everywhere',
    title: 'Everywhere',
    rows: [
      { keys: ['Ctrl K'], does: 'Open the command palette: cards, boards and actions by name' },
      { keys: ['?'], does: 'Show the keyboard shortcuts' },
      { keys: ['G then B'], does: 'Go to your boards' },
      { keys: ['Esc'], does: 'Close what is on top; the focus goes back to where it was', is_native: true },
    ],
  },
  {
    screen: 'boards',
    title: 'Board list',
    rows: [
      { keys: ['N'], does: 'Write the title of a new board' },
      { keys: ['/'], does: 'Find a board, when there are many' },
      { keys: ['↑', '↓', '←', '→'], does: 'Go from board to board' },
      { keys: ['Enter'], does: 'Open the board', is_native: true },
    ],
  },
  {
    screen: 'board',
    title: 'Board',
    rows: [
      { keys: ['N'], does: 'Write a new card' },
      { keys: ['C'], does: 'Add a lane' },
      { keys: ['/'], does: 'Filter the cards' },
      { keys: ['F'], does: 'Show only my cards, or all again' },
      { keys: ['Esc'], does: 'Clear the filter' },
      { keys: ['Ctrl Z'], does: 'Undo' },
      { keys: ['Ctrl Shift Z', 'Ctrl Y'], does: 'Redo' },
      { keys: ['G then A'], does: 'Open the activity of the board' },
    ],
  },
  {
    screen: 'focused_card',
    title: 'A card with the focus',
    rows: [
      { keys: ['↑', '↓', '←', '→'], does: 'Go from card to card' },
      { keys: ['Home', 'End'], does: 'Go to the first or the last card of the lane' },
      { keys: ['Shift ↑', 'Shift ↓'], does: 'Move the card up or down' },
      { keys: ['Shift ←', 'Shift →'], does: 'Move the card to the lane beside' },
      { keys: ['Shift Home', 'Shift End'], does: 'Move the card to the top or the bottom of its lane' },
      { keys: ['M'], does: 'Move to… a lane and a position' },
      { keys: ['Enter'], does: 'Open the card', is_native: true },
      { keys: ['E'], does: 'Edit the title' },
      { keys: ['N'], does: 'Write a new card below' },
      { keys: ['Shift N'], does: 'Write a new card on top of the lane' },
      { keys: ['L'], does: 'Labels' },
      { keys: ['A'], does: 'Assignees' },
      { keys: ['Space'], does: 'Assign me, or take me off' },
      { keys: ['.', 'Shift F10'], does: 'Open the menu of the card' },
      { keys: ['Ctrl C'], does: 'Copy the link to the card' },
      { keys: ['Del'], does: 'Delete the card; it can be undone' },
      { keys: ['[', ']'], does: 'Go to the menu of the lane before or behind' },
    ],
  },
  {
    screen: 'card',
    title: 'Open card',
    rows: [
      { keys: ['E'], does: 'Edit the title' },
      { keys: ['M'], does: 'Move to… a lane and a position' },
      { keys: ['L'], does: 'Labels' },
      { keys: ['A'], does: 'Assignees' },
      { keys: ['K'], does: 'Add a checklist' },
      { keys: ['U'], does: 'Attach files' },
      { keys: ['Ctrl ↑', 'Ctrl ↓'], does: 'Go to the card above or below' },
      { keys: ['Ctrl Z'], does: 'Undo' },
      { keys: ['Ctrl Shift Z', 'Ctrl Y'], does: 'Redo' },
      { keys: ['Esc'], does: 'Close the card; what was typed is kept', is_native: true },
    ],
  },
  {
    screen: 'description',
    title: 'The description, while it is written',
    rows: [
      { keys: ['Ctrl B'], does: 'Bold' },
      { keys: ['Ctrl I'], does: 'Italic' },
      { keys: ['Ctrl K'], does: 'Link' },
      { keys: ['Ctrl Enter'], does: 'Save' },
      { keys: ['Esc'], does: 'Leave the text; it is kept as a draft' },
    ],
  },
  {
    screen: 'checklist',
    title: 'An item of a checklist',
    rows: [{ keys: ['Shift ↑', 'Shift ↓'], does: 'Move the item up or down' }],
  },
  {
    screen: 'members',
    title: 'Members',
    rows: [{ keys: ['I'], does: 'Find somebody to invite' }],
  },
]

/** Which parts of the table an address of the client has. */
export function screensAt(path: string): ScreenKeys['screen'][] {
  if (/\/b\/[^/]+\/c\//.test(path)) return ['card', 'description', 'checklist']
  if (/\/b\/[^/]+\/members/.test(path)) return ['members']
  if (/\/b\/[^/]+/.test(path)) return ['focused_card', 'board']
  return path.endsWith('/boards') ? ['boards'] : []
}

/** Keys of one character without Control: whoever dictates can switch them off, all at once. */
export const isLetterKey = (keys: string) => /^(Shift )?(.|Space)( then .)?$/u.test(keys) && !/[↑↓←→]/.test(keys)
