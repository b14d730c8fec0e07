import { isStepOpen, openStep, useHistoryStep } from '../ui/history-step.ts'
import { Store } from '../ui/store.ts'
import type { BoardTools } from './board-tools.ts'
import { writeFilter } from './filter-address.ts'
import { openCardId } from './open-card.ts'

/** The open overlay: the command palette (for the focused card, if any) or the list of shortcuts. */
export type Overlay = { what: 'palette'; card_id: string | undefined } | { what: 'shortcuts' }
const OVERLAY = 'overlay'
export const useOverlay = () => useHistoryStep<Overlay>(OVERLAY)
export const isOverlayOpen = () => isStepOpen(OVERLAY)

function open(overlay: Overlay) {
  // The page to which Back returns has the filter in its URL.
  writeFilter()
  openStep(OVERLAY, overlay)
}

/** The open board, for components outside its page. */
export const currentBoard = new Store<BoardTools | undefined>(undefined)

/** Remembers the focused card, because the palette takes the focus from it. */
export function openPalette() {
  const focus = currentBoard.get()?.focus.get()
  open({ what: 'palette', card_id: openCardId() ?? (focus?.isHeld ? focus.card_id : undefined) })
}

export const openShortcuts = () => open({ what: 'shortcuts' })
