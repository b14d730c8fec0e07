import { Store } from '../ui/store.ts'
import type { BoardTools } from './board-tools.ts'
import { openCardId } from './open-card.ts'

/** The open overlay: the command palette (for the focused card, if any) or the list of shortcuts. */
export type Overlay = { what: 'palette'; card_id: string | undefined } | { what: 'shortcuts' }
export const overlay = new Store<Overlay | undefined>(undefined)

/** The open board, for components outside its page. */
export const currentBoard = new Store<BoardTools | undefined>(undefined)

/** Remembers the focused card, because the palette takes the focus from it. */
export function openPalette() {
  const focus = currentBoard.get()?.focus.get()
  overlay.set({ what: 'palette', card_id: openCardId() ?? (focus?.isHeld ? focus.card_id : undefined) })
}

export const openShortcuts = () => overlay.set({ what: 'shortcuts' })
export const closeOverlay = () => overlay.set(undefined)
