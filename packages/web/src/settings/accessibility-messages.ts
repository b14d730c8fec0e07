import { defineMessages, params } from '../ui/i18n.ts'

/** Its own catalogue, because only the accessibility page loads these texts. */
export const t = defineMessages('accessibility', {
  accessibility: 'Accessibility',
  aim: 'The web client aims for level AA of the Web Content Accessibility Guidelines (WCAG) 2.2. This page lists how each criterion is met, what is tested, and the known limits.',
  knownLimits: 'Known limits',
  limitTouchDragging:
    'On touch screens, columns cannot be dragged, only cards. “Move left” and “Move right” in a column’s menu always work.',
  limitTests:
    'The tests run in Chromium, with axe and a transcript of the announcements. Not every screen has been tested with a screen reader or by people who depend on one.',
  limitLongColumns:
    'Columns with more than 60 cards render only the visible cards. Each card has its position and the total number, but the browser’s search finds only visible cards. The filter finds all of them.',
  limitAttachments:
    'Attachments are shown as uploaded. Their accessibility depends on the author; the only text alternative of an image is its file name.',
  limitLanguage: 'The user interface is in English only, and text in other languages is not marked as such.',
  reportProblem: 'Report a problem',
  reportContact:
    'Contact the administrator of this service. Describe what you wanted to do, what happened instead, and which browser and assistive technology you use.',
  reportDetails: 'If an error is shown, include the request id under “Details for your administrator”.',
  howMet: 'How it is met',
  tableCaption: 'WCAG 2.2 success criteria, how they are met, and what is tested',
  criterion: 'Criterion',
  howMetAndTested: 'How it is met and tested',
  level: params('Level {level}'),
  tested: params('Tested: {proof} ({rule})'),
  nonTextContent: 'Non-text content',
  nonTextContentMet:
    'Icons are decorative and hidden from screen readers; avatars and files have their name as text alternative.',
  nonTextContentProof: 'Every image, button and link on every screen has a name.',
  infoAndRelationships: 'Info and relationships',
  infoAndRelationshipsMet:
    'Columns are regions with a heading, the number of cards and an ordered list; fields have labels, dialogs titles, tables headers.',
  infoAndRelationshipsProof:
    'The accessibility tree of a board has every column with its name and number of cards, and every card with its position.',
  useOfColour: 'Use of colour',
  useOfColourMet: 'Labels, the connection state and errors are shown as text. Colour only repeats it.',
  useOfColourProof: 'Labels, the connection state and errors are found by their text.',
  contrastMinimum: 'Contrast (minimum)',
  contrastMinimumMet:
    'Text has a contrast of at least 4.5:1 in both themes. A label shows its colour as a dot beside its name, with a ring where the colour is too close to the background.',
  contrastMinimumProof:
    'The contrast of all colour token pairs, and of avatars in all their colours, is computed for both themes.',
  reflow: 'Reflow',
  reflowMet:
    'Everything works at a width of 320 pixels (400 % zoom). Only the columns scroll horizontally, one column per screen.',
  reflowProof: 'At 320 pixels no page scrolls horizontally and no control is cut off.',
  nonTextContrast: 'Non-text contrast',
  nonTextContrastMet:
    'Borders of fields and buttons and the focus ring have at least 3:1 in both themes; in forced-colours mode the system colours are used.',
  nonTextContrastProof:
    'The contrast of the colour tokens is computed for both themes; every control is visible in forced-colours mode.',
  contentOnHoverOrFocus: 'Content on hover or focus',
  contentOnHoverOrFocusMet:
    'Only the menu button of a card and native tooltips appear on hover. The button also appears on focus.',
  contentOnHoverOrFocusProof: 'The menu of a card opens with the keyboard and by touch, without hover.',
  keyboard: 'Keyboard',
  keyboardMet:
    'Everything works with the keyboard: arrow keys move between cards, Shift with an arrow key moves a card, and the command palette has every action.',
  keyboardProof: 'All tasks are done with the keyboard alone.',
  noKeyboardTrap: 'No keyboard trap',
  noKeyboardTrapMet: 'Dialogs, popovers and menus close with Escape and return the focus. Unsaved text is kept.',
  noKeyboardTrapProof: 'Escape closes every dialog, and the focus returns to where it was.',
  characterKeyShortcuts: 'Character key shortcuts',
  characterKeyShortcutsMet: 'Single-key shortcuts work only outside fields, and can be turned off in the settings.',
  characterKeyShortcutsProof:
    'With the setting off, no single-key shortcut works; in a field each key types its letter.',
  animationFromInteractions: 'Animation from interactions',
  animationFromInteractionsMet: 'Animations are short, and off if the system asks for reduced motion.',
  animationFromInteractionsProof: 'With reduced motion, no element has an animation or a transition.',
  bypassBlocks: 'Bypass blocks',
  bypassBlocksMet:
    'The first Tab stop is a skip link to the content; pages have a header, a main landmark and headings.',
  bypassBlocksProof: 'Tab and Enter lead to the main landmark of every page.',
  focusOrder: 'Focus order',
  focusOrderMet:
    'The focus order follows the visual order. A new page focuses its heading; a card keeps the focus when another user moves or changes it.',
  focusOrderProof:
    'The focus stays on a card during moves, changes by others and reconnects, and goes to the next card when the card is deleted.',
  focusVisible: 'Focus visible',
  focusVisibleMet: 'The focused element has a ring of two pixels in a colour that is used for nothing else.',
  focusVisibleProof: 'Every Tab stop on every screen has an outline.',
  focusNotObscuredMinimum: 'Focus not obscured (minimum)',
  focusNotObscuredMinimumMet: 'Headers do not cover scrolling content, and lists scroll the focused element into view.',
  focusNotObscuredMinimumProof: 'In a column of 300 cards the focused card is visible after every step.',
  draggingMovements: 'Dragging movements',
  draggingMovementsMet:
    'Everything that can be dragged can be moved with clicks: “Move to…” in a card’s menu, “Move left” and “Move right” in a column’s menu.',
  draggingMovementsProof: 'All tasks are done with clicks, without dragging.',
  targetSizeMinimum: 'Target size (minimum)',
  targetSizeMinimumMet: 'Targets are at least 24 by 24 pixels, and 44 by 44 on touch screens.',
  targetSizeMinimumProof: 'The size of every control on every screen is measured.',
  consistentHelp: 'Consistent help',
  consistentHelpMet:
    'The account menu is at the end of every header and contains the keyboard shortcuts and this page.',
  consistentHelpProof: 'The menu has the same entries in the same order on every page.',
  errorIdentification: 'Error identification',
  errorIdentificationMet: 'Errors are shown as text at their field, which takes the focus; the input stays.',
  errorIdentificationProof: 'Invalid input in every form marks its field and describes the error.',
  redundantEntry: 'Redundant entry',
  redundantEntryMet:
    'Nothing is asked for twice: passwords are not repeated, an ended session asks only for the password, drafts are restored.',
  redundantEntryProof: 'After a session ends the email is filled in, and the page behind the dialog keeps its state.',
  accessibleAuthenticationMinimum: 'Accessible authentication (minimum)',
  accessibleAuthenticationMinimumMet:
    'Passwords can be pasted, shown and filled in by a password manager. There is no CAPTCHA.',
  accessibleAuthenticationMinimumProof:
    'The fields have autocomplete attributes for password managers and accept pasted text.',
  nameRoleValue: 'Name, role, value',
  nameRoleValueMet:
    'Menus, dialogs, selects and comboboxes follow the ARIA Authoring Practices; other controls are native.',
  nameRoleValueProof: 'axe finds no violation on any screen, in both themes.',
  statusMessages: 'Status messages',
  statusMessagesMet:
    'Results are announced without moving the focus: Moved “Fix login” from Inbox to Review, position 2 of 4. Changes by others are announced at most every five seconds.',
  statusMessagesProof:
    'The announcements for creating, moving, changes by others, a lost connection and errors are recorded and compared.',
})
