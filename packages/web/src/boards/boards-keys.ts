import { hasLetterKeys } from '../preferences.ts'
import { hasCommand, isWriting } from '../ui/keys.tsx'
import { openLayers } from '../ui/layers.ts'

const fields: Record<string, string> = { n: '.new-board input', '/': '.boards-find' }

/** Shortcuts of the board list, outside fields, dialogs and menus. */
export function handleBoardListKeys(event: KeyboardEvent) {
  if (event.defaultPrevented || event.altKey || hasCommand(event) || !hasLetterKeys()) return
  if (isWriting(event.target) || openLayers().length > 0) return
  const field = document.querySelector<HTMLElement>(fields[event.key] ?? 'never')
  if (!field) return
  event.preventDefault()
  field.focus()
}

/** Arrow keys move between tiles. */
export function handleTileKeys(event: Pick<KeyboardEvent, 'key' | 'preventDefault'>, tiles: readonly HTMLElement[]) {
  const at = tiles.indexOf(document.activeElement as HTMLElement)
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
  if (!step || at < 0) return
  event.preventDefault()
  tiles[Math.max(0, Math.min(at + step, tiles.length - 1))]?.focus()
}
