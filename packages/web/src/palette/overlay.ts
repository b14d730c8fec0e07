import type { BoardTools } from '../board/board-tools.ts'
import { Store } from '../ui/store.ts'

/** What lies over every page: the command palette, for a card if one had the focus, or the sheet of shortcuts. */
export type Overlay = { what: 'palette'; card_id: string | undefined } | { what: 'shortcuts' }
export const overlay = new Store<Overlay | undefined>(undefined)

/** The board that is open, for what is not part of its page. */
export const currentBoard = new Store<BoardTools | undefined>(undefined)

/** The card whose dialog is open, by the address. */
export const openCardId = () => /^\/app\/b\/[^/]+\/c\/([^/]+)/.exec(location.pathname)?.[1]

/** Asked for now, since the palette takes the focus from the card that is meant. */
export function openPalette() {
  const focus = currentBoard.get()?.focus.get()
  overlay.set({ what: 'palette', card_id: openCardId() ?? (focus?.is_held ? focus.card_id : undefined) })
}

export const openShortcuts = () => overlay.set({ what: 'shortcuts' })
export const closeOverlay = () => overlay.set(undefined)
