import type { BoardTools } from './board-tools.ts'

/** The action of an undo or redo shortcut: Ctrl Z, Ctrl Shift Z, Ctrl Y. */
export function undoAction(tools: BoardTools, { key, shiftKey }: KeyboardEvent): (() => void) | undefined {
  const letter = key.toLowerCase()
  if (letter === 'y' || (letter === 'z' && shiftKey)) return () => tools.redo()
  return letter === 'z' ? () => tools.undo() : undefined
}
