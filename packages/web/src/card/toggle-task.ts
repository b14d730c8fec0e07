/** The box of a task list item. */
const BOX = /^\[[ \txX]\]$/

/** Ticks or unticks the task list item whose box starts at this offset of the Markdown. `undefined` if there is no box. */
export function toggleTask(text: string, at: number): string | undefined {
  const box = text.slice(at, at + 3)
  if (!BOX.test(box)) return undefined
  return `${text.slice(0, at)}[${box.toLowerCase() === '[x]' ? ' ' : 'x'}]${text.slice(at + 3)}`
}
