/** WCAG 2.2 success criteria. The accessibility page and docs/accessibility.md are generated from this table. */
export interface Criterion {
  id: string
  name: string
  level: 'A' | 'AA' | 'AAA'
  /** How the client meets it. */
  met: string
  /** What the test checks. */
  proof: string
  /** The rule that the test cites. */
  rule: string
}

export const criteria: Criterion[] = [
  {
    id: '1.1.1',
    name: 'Non-text content',
    level: 'A',
    met: 'Icons are decorative and hidden from screen readers; avatars and files have their name as text alternative.',
    proof: 'Every image, button and link on every screen has a name.',
    rule: 'WEB-14',
  },
  {
    id: '1.3.1',
    name: 'Info and relationships',
    level: 'A',
    met: 'Columns are regions with a heading, the number of cards and an ordered list; fields have labels, dialogs titles, tables headers.',
    proof:
      'The accessibility tree of a board has every column with its name and number of cards, and every card with its position.',
    rule: 'WEB-72',
  },
  {
    id: '1.4.1',
    name: 'Use of colour',
    level: 'A',
    met: 'Labels, the connection state and errors are shown as text. Colour only repeats it.',
    proof: 'Labels, the connection state and errors are found by their text.',
    rule: 'WEB-72',
  },
  {
    id: '1.4.3',
    name: 'Contrast (minimum)',
    level: 'AA',
    met: 'Text has a contrast of at least 4.5:1 in both themes. Labels use only the hue of the chosen colour, so that every colour is legible.',
    proof: 'The contrast of all colour token pairs, and of labels in all 360 hues, is computed for both themes.',
    rule: 'WEB-79',
  },
  {
    id: '1.4.10',
    name: 'Reflow',
    level: 'AA',
    met: 'Everything works at a width of 320 pixels (400 % zoom). Only the columns scroll horizontally, one column per screen.',
    proof: 'At 320 pixels no page scrolls horizontally and no control is cut off.',
    rule: 'WEB-74',
  },
  {
    id: '1.4.11',
    name: 'Non-text contrast',
    level: 'AA',
    met: 'Borders of fields and buttons and the focus ring have at least 3:1 in both themes; in forced-colours mode the system colours are used.',
    proof:
      'The contrast of the colour tokens is computed for both themes; every control is visible in forced-colours mode.',
    rule: 'WEB-76, WEB-79',
  },
  {
    id: '1.4.13',
    name: 'Content on hover or focus',
    level: 'AA',
    met: 'Only the menu button of a card and native tooltips appear on hover. The button also appears on focus.',
    proof: 'The menu of a card opens with the keyboard and by touch, without hover.',
    rule: 'WEB-88',
  },
  {
    id: '2.1.1',
    name: 'Keyboard',
    level: 'A',
    met: 'Everything works with the keyboard: arrow keys move between cards, Shift with an arrow key moves a card, and the command palette has every action.',
    proof: 'All tasks are done with the keyboard alone.',
    rule: 'WEB-70',
  },
  {
    id: '2.1.2',
    name: 'No keyboard trap',
    level: 'A',
    met: 'Dialogs are native, close with Escape and return the focus. Unsaved text is kept.',
    proof: 'Escape closes every dialog, and the focus returns to where it was.',
    rule: 'WEB-78',
  },
  {
    id: '2.1.4',
    name: 'Character key shortcuts',
    level: 'A',
    met: 'Single-key shortcuts work only outside fields, and can be turned off in the settings.',
    proof: 'With the setting off, no single-key shortcut works; in a field each key types its letter.',
    rule: 'WEB-31',
  },
  {
    id: '2.3.3',
    name: 'Animation from interactions',
    level: 'AAA',
    met: 'Animations are short, and off if the system asks for reduced motion.',
    proof: 'With reduced motion, no element has an animation or a transition.',
    rule: 'WEB-77',
  },
  {
    id: '2.4.1',
    name: 'Bypass blocks',
    level: 'A',
    met: 'The first Tab stop is a skip link to the content; pages have a header, a main landmark and headings.',
    proof: 'Tab and Enter lead to the main landmark of every page.',
    rule: 'WEB-84',
  },
  {
    id: '2.4.3',
    name: 'Focus order',
    level: 'A',
    met: 'The focus order follows the visual order. A new page focuses its heading; a card keeps the focus when another user moves or changes it.',
    proof:
      'The focus stays on a card during moves, changes by others and reconnects, and goes to the next card when the card is deleted.',
    rule: 'WEB-13, WEB-70',
  },
  {
    id: '2.4.7',
    name: 'Focus visible',
    level: 'AA',
    met: 'The focused element has a ring of two pixels in a colour that is used for nothing else.',
    proof: 'Every Tab stop on every screen has an outline.',
    rule: 'WEB-85',
  },
  {
    id: '2.4.11',
    name: 'Focus not obscured (minimum)',
    level: 'AA',
    met: 'Headers do not cover scrolling content, and lists scroll the focused element into view.',
    proof: 'In a column of 300 cards the focused card is visible after every step.',
    rule: 'WEB-86',
  },
  {
    id: '2.5.7',
    name: 'Dragging movements',
    level: 'AA',
    met: 'Everything that can be dragged can be moved with clicks: “Move to…” in a card’s menu, “Move left” and “Move right” in a column’s menu.',
    proof: 'All tasks are done with clicks, without dragging.',
    rule: 'WEB-71',
  },
  {
    id: '2.5.8',
    name: 'Target size (minimum)',
    level: 'AA',
    met: 'Targets are at least 24 by 24 pixels, and 44 by 44 on touch screens.',
    proof: 'The size of every control on every screen is measured.',
    rule: 'WEB-75',
  },
  {
    id: '3.2.6',
    name: 'Consistent help',
    level: 'A',
    met: 'The account menu is at the end of every header and contains the keyboard shortcuts and this page.',
    proof: 'The menu has the same entries in the same order on every page.',
    rule: 'WEB-87',
  },
  {
    id: '3.3.1',
    name: 'Error identification',
    level: 'A',
    met: 'Errors are shown as text at their field, which takes the focus; the input stays.',
    proof: 'Invalid input in every form marks its field and describes the error.',
    rule: 'WEB-89',
  },
  {
    id: '3.3.7',
    name: 'Redundant entry',
    level: 'A',
    met: 'Nothing is asked for twice: passwords are not repeated, an ended session asks only for the password, drafts are restored.',
    proof: 'After a session ends the email is filled in, and the page behind the dialog keeps its state.',
    rule: 'WEB-57',
  },
  {
    id: '3.3.8',
    name: 'Accessible authentication (minimum)',
    level: 'AA',
    met: 'Passwords can be pasted, shown and filled in by a password manager. There is no CAPTCHA.',
    proof: 'The fields have autocomplete attributes for password managers and accept pasted text.',
    rule: 'WEB-90',
  },
  {
    id: '4.1.2',
    name: 'Name, role, value',
    level: 'A',
    met: 'Native controls are used where they exist; menus and the command palette follow the ARIA Authoring Practices.',
    proof: 'axe finds no violation on any screen, in both themes.',
    rule: 'WEB-14, WEB-74',
  },
  {
    id: '4.1.3',
    name: 'Status messages',
    level: 'AA',
    met: 'Results are announced without moving the focus: Moved “Fix login” from Inbox to Review, position 2 of 4. Changes by others are announced at most every five seconds.',
    proof:
      'The announcements for creating, moving, changes by others, a lost connection and errors are recorded and compared.',
    rule: 'WEB-12, WEB-73',
  },
]

/** Known limits and workarounds. */
export const limits: string[] = [
  'On touch screens, dragging starts with a long press and is not reliable in every browser. “Move to…” in a card’s menu always works.',
  'The tests run in Chromium, with axe and a transcript of the announcements. Not every screen has been tested with a screen reader or by people who depend on one.',
  'Columns with more than 60 cards render only the visible cards. Each card has its position and the total number, but the browser’s search finds only visible cards. The filter finds all of them.',
  'Attachments are shown as uploaded. Their accessibility depends on the author; the only text alternative of an image is its file name.',
  'The user interface is in English only, and text in other languages is not marked as such.',
]

export const aim =
  'The web client aims for level AA of the Web Content Accessibility Guidelines (WCAG) 2.2. This page lists how each criterion is met, what is tested, and the known limits.'

export const report = [
  'Contact the administrator of this service. Describe what you wanted to do, what happened instead, and which browser and assistive technology you use.',
  'If an error is shown, include the request id under “Details for your administrator”.',
]
