import { t } from './accessibility-messages.ts'

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
    name: t.nonTextContent,
    level: 'A',
    met: t.nonTextContentMet,
    proof: t.nonTextContentProof,
    rule: 'WEB-14',
  },
  {
    id: '1.3.1',
    name: t.infoAndRelationships,
    level: 'A',
    met: t.infoAndRelationshipsMet,
    proof: t.infoAndRelationshipsProof,
    rule: 'WEB-72',
  },
  {
    id: '1.4.1',
    name: t.useOfColour,
    level: 'A',
    met: t.useOfColourMet,
    proof: t.useOfColourProof,
    rule: 'WEB-72',
  },
  {
    id: '1.4.3',
    name: t.contrastMinimum,
    level: 'AA',
    met: t.contrastMinimumMet,
    proof: t.contrastMinimumProof,
    rule: 'WEB-79',
  },
  {
    id: '1.4.10',
    name: t.reflow,
    level: 'AA',
    met: t.reflowMet,
    proof: t.reflowProof,
    rule: 'WEB-74',
  },
  {
    id: '1.4.11',
    name: t.nonTextContrast,
    level: 'AA',
    met: t.nonTextContrastMet,
    proof: t.nonTextContrastProof,
    rule: 'WEB-76, WEB-79',
  },
  {
    id: '1.4.13',
    name: t.contentOnHoverOrFocus,
    level: 'AA',
    met: t.contentOnHoverOrFocusMet,
    proof: t.contentOnHoverOrFocusProof,
    rule: 'WEB-88',
  },
  {
    id: '2.1.1',
    name: t.keyboard,
    level: 'A',
    met: t.keyboardMet,
    proof: t.keyboardProof,
    rule: 'WEB-70',
  },
  {
    id: '2.1.2',
    name: t.noKeyboardTrap,
    level: 'A',
    met: t.noKeyboardTrapMet,
    proof: t.noKeyboardTrapProof,
    rule: 'WEB-78',
  },
  {
    id: '2.1.4',
    name: t.characterKeyShortcuts,
    level: 'A',
    met: t.characterKeyShortcutsMet,
    proof: t.characterKeyShortcutsProof,
    rule: 'WEB-31',
  },
  {
    id: '2.3.3',
    name: t.animationFromInteractions,
    level: 'AAA',
    met: t.animationFromInteractionsMet,
    proof: t.animationFromInteractionsProof,
    rule: 'WEB-77',
  },
  {
    id: '2.4.1',
    name: t.bypassBlocks,
    level: 'A',
    met: t.bypassBlocksMet,
    proof: t.bypassBlocksProof,
    rule: 'WEB-84',
  },
  {
    id: '2.4.3',
    name: t.focusOrder,
    level: 'A',
    met: t.focusOrderMet,
    proof: t.focusOrderProof,
    rule: 'WEB-13, WEB-70',
  },
  {
    id: '2.4.7',
    name: t.focusVisible,
    level: 'AA',
    met: t.focusVisibleMet,
    proof: t.focusVisibleProof,
    rule: 'WEB-85',
  },
  {
    id: '2.4.11',
    name: t.focusNotObscuredMinimum,
    level: 'AA',
    met: t.focusNotObscuredMinimumMet,
    proof: t.focusNotObscuredMinimumProof,
    rule: 'WEB-86',
  },
  {
    id: '2.5.7',
    name: t.draggingMovements,
    level: 'AA',
    met: t.draggingMovementsMet,
    proof: t.draggingMovementsProof,
    rule: 'WEB-71',
  },
  {
    id: '2.5.8',
    name: t.targetSizeMinimum,
    level: 'AA',
    met: t.targetSizeMinimumMet,
    proof: t.targetSizeMinimumProof,
    rule: 'WEB-75',
  },
  {
    id: '3.2.6',
    name: t.consistentHelp,
    level: 'A',
    met: t.consistentHelpMet,
    proof: t.consistentHelpProof,
    rule: 'WEB-87',
  },
  {
    id: '3.3.1',
    name: t.errorIdentification,
    level: 'A',
    met: t.errorIdentificationMet,
    proof: t.errorIdentificationProof,
    rule: 'WEB-89',
  },
  {
    id: '3.3.7',
    name: t.redundantEntry,
    level: 'A',
    met: t.redundantEntryMet,
    proof: t.redundantEntryProof,
    rule: 'WEB-57',
  },
  {
    id: '3.3.8',
    name: t.accessibleAuthenticationMinimum,
    level: 'AA',
    met: t.accessibleAuthenticationMinimumMet,
    proof: t.accessibleAuthenticationMinimumProof,
    rule: 'WEB-90',
  },
  {
    id: '4.1.2',
    name: t.nameRoleValue,
    level: 'A',
    met: t.nameRoleValueMet,
    proof: t.nameRoleValueProof,
    rule: 'WEB-14, WEB-74',
  },
  {
    id: '4.1.3',
    name: t.statusMessages,
    level: 'AA',
    met: t.statusMessagesMet,
    proof: t.statusMessagesProof,
    rule: 'WEB-12, WEB-73',
  },
]

/** Known limits and workarounds. */
export const limits: string[] = [
  t.limitTouchDragging,
  t.limitTests,
  t.limitLongColumns,
  t.limitAttachments,
  t.limitLanguage,
]

export const aim = t.aim

export const report = [t.reportContact, t.reportDetails]
