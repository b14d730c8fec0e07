/** The success criteria of WCAG 2.2 that shape the client. The page and the document are both made of this. */
export interface Criterion {
  id: string
  name: string
  level: 'A' | 'AA' | 'AAA'
  /** How the client meets it. */
  met: string
  /** What a test shows. */
  proof: string
  /** The rule of the project that the test cites. */
  rule: string
}

export const criteria: Criterion[] = [
  {
    id: '1.1.1',
    name: 'Non-text content',
    level: 'A',
    met: 'Pictures stand beside words that say the same and are hidden from screen readers; faces carry the name, files their name.',
    proof: 'No image, button or link on any screen is without a name.',
    rule: 'WEB-14',
  },
  {
    id: '1.3.1',
    name: 'Info and relationships',
    level: 'A',
    met: 'Lanes are sections with a heading and an ordered list of cards, which say how many there are; fields have labels, dialogs titles, tables headers.',
    proof:
      'The accessibility tree of a board has each lane with its name and number of cards, and each card with its position.',
    rule: 'WEB-72',
  },
  {
    id: '1.4.1',
    name: 'Use of colour',
    level: 'A',
    met: 'A label shows its name, the state of the connection a word, an error a sentence. Colour only repeats it.',
    proof: 'Labels, the connection and errors are found by their text.',
    rule: 'WEB-72',
  },
  {
    id: '1.4.3',
    name: 'Contrast (minimum)',
    level: 'AA',
    met: 'Every pair of text and ground has at least 4.5:1 in both themes. Labels take only the hue of the chosen colour, so that any colour stays legible.',
    proof: 'All pairs of the tokens, and labels of all 360 hues, are computed in both themes.',
    rule: 'WEB-79',
  },
  {
    id: '1.4.10',
    name: 'Reflow',
    level: 'AA',
    met: 'Everything works at 320 pixels of width, which is 400 % of zoom. Only the lanes scroll sideways, one lane per screen.',
    proof: 'At 320 pixels no page scrolls sideways and no control is cut off.',
    rule: 'WEB-74',
  },
  {
    id: '1.4.11',
    name: 'Non-text contrast',
    level: 'AA',
    met: 'Borders of fields and buttons and the ring of the focus have at least 3:1 in both themes; with forced colours the system’s own are used.',
    proof: 'The pairs of the tokens are computed in both themes; a board with forced colours shows every control.',
    rule: 'WEB-76, WEB-79',
  },
  {
    id: '1.4.13',
    name: 'Content on hover or focus',
    level: 'AA',
    met: 'Nothing appears only on hover but the button of a card’s menu, which also shows on focus, and the names that browsers show themselves.',
    proof: 'The menu of a card opens by key and by touch, without a pointer over it.',
    rule: 'WEB-88',
  },
  {
    id: '2.1.1',
    name: 'Keyboard',
    level: 'A',
    met: 'Everything can be done by keys: cards are walked with arrows and moved with Shift and arrows, and the command palette has every action by name.',
    proof: 'All tasks of the client are done with the keyboard alone.',
    rule: 'WEB-70',
  },
  {
    id: '2.1.2',
    name: 'No keyboard trap',
    level: 'A',
    met: 'Dialogs are the browser’s own, close on Escape and give the focus back. What was typed is kept.',
    proof: 'Every dialog is left by Escape, and the focus is where it was before.',
    rule: 'WEB-78',
  },
  {
    id: '2.1.4',
    name: 'Character key shortcuts',
    level: 'A',
    met: 'Keys of a single letter act only outside of fields, and can be switched off in the settings, all at once.',
    proof: 'With the setting off no such key does anything; in a field each of them writes.',
    rule: 'WEB-31',
  },
  {
    id: '2.3.3',
    name: 'Animation from interactions',
    level: 'AAA',
    met: 'Movements are short, and there are none where the system asks for less motion.',
    proof: 'With reduced motion no element has an animation or a transition.',
    rule: 'WEB-77',
  },
  {
    id: '2.4.1',
    name: 'Bypass blocks',
    level: 'A',
    met: 'The first thing that Tab reaches is a link to the content; pages have a header, a main part and headings.',
    proof: 'One Tab and Enter lead to the main part of every page.',
    rule: 'WEB-84',
  },
  {
    id: '2.4.3',
    name: 'Focus order',
    level: 'A',
    met: 'Tab follows what is seen. A new page gives the focus to its heading; a card that is moved or changed by somebody else keeps it.',
    proof:
      'The focus stays on a card over moves, changes of others and reconnects, and goes to the neighbour when the card is deleted.',
    rule: 'WEB-13, WEB-70',
  },
  {
    id: '2.4.7',
    name: 'Focus visible',
    level: 'AA',
    met: 'Whatever has the focus has a ring of two pixels in a colour that nothing else has.',
    proof: 'Every stop of Tab on every screen has an outline.',
    rule: 'WEB-85',
  },
  {
    id: '2.4.11',
    name: 'Focus not obscured (minimum)',
    level: 'AA',
    met: 'Headers do not lie over what scrolls, and lists scroll what gets the focus into sight.',
    proof: 'In a lane of 300 cards the card with the focus is in sight after every step.',
    rule: 'WEB-86',
  },
  {
    id: '2.5.7',
    name: 'Dragging movements',
    level: 'AA',
    met: 'What can be dragged can be moved by clicks: “Move to…” in the menu of a card, “Move left” and “Move right” in the menu of a lane.',
    proof: 'All tasks of the client are done with clicks, without a drag.',
    rule: 'WEB-71',
  },
  {
    id: '2.5.8',
    name: 'Target size (minimum)',
    level: 'AA',
    met: 'Targets have at least 24 by 24 pixels, and 44 where the pointer is a finger.',
    proof: 'The boxes of all controls of every screen are measured.',
    rule: 'WEB-75',
  },
  {
    id: '3.2.6',
    name: 'Consistent help',
    level: 'A',
    met: 'The account menu stands at the end of every header, with the keyboard shortcuts and this page at the same place.',
    proof: 'The menu has the same entries in the same order on every page.',
    rule: 'WEB-87',
  },
  {
    id: '3.3.1',
    name: 'Error identification',
    level: 'A',
    met: 'A refusal is said in words at the field it is about, which takes the focus; what was typed stays.',
    proof: 'Wrong input in every form marks its field and describes it.',
    rule: 'WEB-89',
  },
  {
    id: '3.3.7',
    name: 'Redundant entry',
    level: 'A',
    met: 'Nothing is asked twice: no password is repeated, a session that ended asks only for the password, drafts come back.',
    proof: 'After the end of a session the e-mail is there already, and the page behind it is as it was.',
    rule: 'WEB-57',
  },
  {
    id: '3.3.8',
    name: 'Accessible authentication (minimum)',
    level: 'AA',
    met: 'Passwords can be pasted, shown, and filled in by a password manager. There is no puzzle.',
    proof: 'The fields name their purpose for password managers, and take what is pasted.',
    rule: 'WEB-90',
  },
  {
    id: '4.1.2',
    name: 'Name, role, value',
    level: 'A',
    met: 'Controls are the browser’s own where there are any; menus and the command palette follow the patterns of the ARIA guide.',
    proof: 'axe finds nothing on any screen, in both themes.',
    rule: 'WEB-14, WEB-74',
  },
  {
    id: '4.1.3',
    name: 'Status messages',
    level: 'AA',
    met: 'Results are told without moving the focus: “Fix login” moved from Inbox to Review, position 2 of 4. What others do is told at most every five seconds.',
    proof:
      'What is told is recorded for creating, moving, a change of somebody else, the loss of the connection and an error.',
    rule: 'WEB-12, WEB-73',
  },
]

/** What does not work as it should, and what to do instead. */
export const limits: string[] = [
  'On touch screens a drag begins with a long press and is not reliable in every browser. “Move to…” in the menu of a card always works.',
  'The tests run in Chromium, with axe and a recorded transcript of what is announced. Screen readers themselves, and people who depend on them, have not tried every screen.',
  'Lanes with very many cards hold only those in sight. They tell their position and the number of all, but the browser’s own search finds only what is in sight: the filter finds all.',
  'Attached files are shown as they were uploaded. Whether a picture or a PDF is accessible is up to whoever made it; a picture has no text but its name.',
  'The client speaks English only, and titles in other languages are not marked as such.',
]

export const aim =
  'The web client aims at level AA of the Web Content Accessibility Guidelines (WCAG) 2.2. This page says how, by which tests it is held to it, and where it falls short.'

export const report = [
  'Tell whoever runs this service: say what you wanted to do, which browser and which assistive technology you use, and what happened instead.',
  'If an error is shown, its “For your operator” holds the number of the request. It helps to find what went wrong.',
]
