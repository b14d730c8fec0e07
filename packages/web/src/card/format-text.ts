import { type SelectedText, type TextEdit, wrap } from './text-keys.ts'

export type ListKind = 'bullet' | 'number' | 'task'

const MARKER = /^(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\](?:[ \t]+|$))?/
const listKinds: Record<ListKind, { is: RegExp; markerAt: (index: number) => string }> = {
  bullet: { is: /^[-*+][ \t]+(?!\[[ xX]\](?:[ \t]|$))/, markerAt: () => '- ' },
  number: { is: /^\d{1,9}[.)][ \t]+/, markerAt: (index) => `${index + 1}. ` },
  task: { is: /^[-*+][ \t]+\[[ xX]\](?:[ \t]|$)/, markerAt: () => '- [ ] ' },
}
const HEADING = /^#{1,6}[ \t]+/
const HEADING_MARK = '## '

/** Makes the selected lines a list of this kind, or plain lines if they are one already. */
export function toggleList(selected: SelectedText, kind: ListKind): TextEdit {
  const { is, markerAt } = listKinds[kind]
  return toggleLines(selected, MARKER, is, markerAt)
}

/** Makes the selected lines headings, or plain lines if they are headings already. */
export const toggleHeading = (selected: SelectedText): TextEdit =>
  toggleLines(selected, HEADING, HEADING, () => HEADING_MARK)

/** Code within a line, or a block of the selected lines. */
export function code(selected: SelectedText): TextEdit {
  const { text, start, end } = selected
  if (!text.slice(start, end).includes('\n')) return wrap(selected, '`')
  const { from, to } = linesOf(selected)
  const lines = text.slice(from, to)
  // Longer than any fence within the code.
  const longest = Math.max(2, ...(lines.match(/`+/g) ?? []).map(({ length }) => length))
  const fence = '`'.repeat(longest + 1)
  const first = from + fence.length + 1
  return { from, to, insert: `${fence}\n${lines}\n${fence}`, start: first, end: first + lines.length }
}

/** The Markdown of an image of the card. */
export const imageMarkdown = ({ id, name }: { id: string; name: string }): string =>
  `![${name.replace(/[\\[\]]/g, '\\$&')}](/attachments/${id})`

/** Inserts an image of the card after the selection. */
export function image({ end }: SelectedText, shown: { id: string; name: string }): TextEdit {
  const insert = imageMarkdown(shown)
  return { from: end, to: end, insert, start: end + insert.length, end: end + insert.length }
}

/** The range of the lines that are selected, at least in part. */
function linesOf({ text, start, end }: SelectedText): { from: number; to: number } {
  const from = start === 0 ? 0 : text.lastIndexOf('\n', start - 1) + 1
  // A selection that ends at the start of a line does not include it.
  const last = end > start && text[end - 1] === '\n' ? end - 1 : end
  const to = text.indexOf('\n', last)
  return { from, to: to < 0 ? text.length : to }
}

/** Removes the marker from all lines if each is marked with `is`; otherwise gives each the new marker instead of its own. */
function toggleLines(
  selected: SelectedText,
  marker: RegExp,
  is: RegExp,
  markerAt: (index: number) => string,
): TextEdit {
  const { from, to } = linesOf(selected)
  const lines = selected.text.slice(from, to).split('\n')
  const parts = lines.map((line) => {
    const content = line.trimStart()
    return { indent: line.slice(0, line.length - content.length), content }
  })
  // Empty lines between others stay empty.
  const isMarked = (content: string) => content !== '' || lines.length === 1
  const isOn = parts.every(({ content }) => !isMarked(content) || is.test(content))
  let count = 0
  const insert = parts
    .map(({ indent, content }) => {
      if (!isMarked(content)) return indent
      return indent + (isOn ? '' : markerAt(count++)) + content.replace(marker, '')
    })
    .join('\n')
  if (selected.start !== selected.end) return { from, to, insert, start: from, end: from + insert.length }
  const cursor = Math.max(from, selected.start + insert.length - (to - from))
  return { from, to, insert, start: cursor, end: cursor }
}
