import type { KeyboardEvent } from 'react'
import { hasCommand } from '../ui/keys.tsx'
import { continueList, link, type SelectedText, type TextEdit, wrap } from './text-keys.ts'

export const selectionOf = ({
  value,
  selectionStart: start,
  selectionEnd: end,
}: HTMLTextAreaElement): SelectedText => ({ text: value, start, end })

/** Applies an edit through `execCommand`, so that the browser's undo includes it. Not every browser has it. */
export function applyEdit(area: HTMLTextAreaElement, { from, to, insert, start, end }: TextEdit) {
  area.setSelectionRange(from, to)
  const isChange = insert !== '' || from !== to
  if (isChange && !document.execCommand(insert ? 'insertText' : 'delete', false, insert)) {
    area.setRangeText(insert, from, to)
    area.dispatchEvent(new InputEvent('input', { bubbles: true }))
  }
  area.setSelectionRange(start, end)
}

/** Inserts a text without moving the focus. The selection stays where it is in the text; behind the new text if it was there. */
export function insertAt(area: HTMLTextAreaElement, at: number, insert: string) {
  const moved = (position: number) => (position < at ? position : position + insert.length)
  const [start, end] = [moved(area.selectionStart), moved(area.selectionEnd)]
  // `execCommand` writes into the element that has the focus.
  if (document.activeElement === area) return applyEdit(area, { from: at, to: at, insert, start, end })
  area.setRangeText(insert, at, at)
  area.dispatchEvent(new InputEvent('input', { bubbles: true }))
  area.setSelectionRange(start, end)
}

/** The letter or key that is pressed with Ctrl alone (⌘ on a Mac). */
export const commandOf = (event: KeyboardEvent): string | undefined =>
  hasCommand(event) && !event.shiftKey && !event.altKey ? event.key.toLowerCase() : undefined

/** Handles the keys that format Markdown. Returns whether it was one. */
export function handleFormatKey(event: KeyboardEvent<HTMLTextAreaElement>): boolean {
  const edit = editFor(event, selectionOf(event.currentTarget))
  if (edit) applyEdit(event.currentTarget, edit)
  return edit !== undefined
}

function editFor(event: KeyboardEvent, selected: SelectedText): TextEdit | undefined {
  const command = commandOf(event)
  if (command === 'b') return wrap(selected, '**')
  if (command === 'i') return wrap(selected, '_')
  if (command === 'k') return link(selected)
  const isPlainEnter = event.key === 'Enter' && !event.shiftKey && !event.altKey && command === undefined
  return isPlainEnter ? continueList(selected) : undefined
}
