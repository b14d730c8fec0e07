/** The text of a field with its selection. */
export interface SelectedText {
  text: string
  start: number
  end: number
}
/** A replacement of a part of the text, and the new selection. */
export interface TextEdit {
  from: number
  to: number
  insert: string
  start: number
  end: number
}

/** Adds marks around the selection, or removes them. */
export function wrap({ text, start, end }: SelectedText, mark: string): TextEdit {
  const size = mark.length
  const chosen = text.slice(start, end)
  if (text.slice(start - size, start) === mark && text.slice(end, end + size) === mark)
    return { from: start - size, to: end + size, insert: chosen, start: start - size, end: end - size }
  return { from: start, to: end, insert: mark + chosen + mark, start: start + size, end: end + size }
}

/** Turns the selection into a link; the cursor is where the URL goes. */
export function link({ text, start, end }: SelectedText): TextEdit {
  const chosen = text.slice(start, end)
  const isAddress = /^https?:\/\/\S+$/.test(chosen)
  const insert = isAddress ? `[](${chosen})` : `[${chosen}]()`
  const at = isAddress ? start + 1 : start + insert.length - 1
  return { from: start, to: end, insert, start: at, end: at }
}

const ITEM = /^(\s*)(?:([-*+])|(\d+)([.)]))(\s+)(\[[ xX]\]\s+)?/

/** Enter in a list starts the next item; in an empty item it ends the list. */
export function continueList({ text, start, end }: SelectedText): TextEdit | undefined {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const line = text.slice(lineStart, start)
  const found = ITEM.exec(line)
  if (!found || start !== end) return undefined
  const [marker, indent = '', bullet, number, dot, space, box] = found
  if (line === marker && (text[start] ?? '\n') === '\n')
    return { from: lineStart, to: start, insert: '', start: lineStart, end: lineStart }
  const insert = `\n${indent}${bullet ?? `${Number(number) + 1}${dot}`}${space}${box ? '[ ] ' : ''}`
  return { from: start, to: start, insert, start: start + insert.length, end: start + insert.length }
}
