import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { announce } from '../ui/announcer.tsx'
import { keep, readKept } from '../ui/kept.ts'
import { showToast } from '../ui/toasts.tsx'
import { TooLong, tooLong } from '../ui/too-long.tsx'
import { type Composing, useTools } from './board-tools.ts'
import { setFilter } from './filter-address.ts'

const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
const longest = (lines: readonly string[]) =>
  lines.reduce((one, other) => (other.length > one.length ? other : one), '')

/** Where new cards are written: Enter makes one and stays, and every pasted line is a card. */
export function Composer({ column_id, after_id }: Composing) {
  const tools = useTools()
  const draft = `draft/${tools.me.id}/${tools.board_id}/new-card/${column_id}`
  const [text, setText] = useState(() => readKept(draft) ?? '')
  const field = useRef<HTMLTextAreaElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the cards that it makes
  useEffect(() => field.current?.focus(), [after_id])

  const write = (next: string) => {
    setText(next)
    keep(draft, next || undefined)
  }
  /** Tells whether the cards were made: a title that is too long stays in the field. */
  const make = (titles: readonly string[]): boolean => {
    if (tooLong(longest(titles))) return false
    const ids: string[] = []
    // The page must show the cards before the filter can be asked about them.
    flushSync(() => {
      for (const title of titles)
        ids.push(tools.change('createCard', { column_id, title, after_id: ids.at(-1) ?? after_id }).id)
    })
    const said = titles.length === 1 ? `“${titles[0]}” created.` : `${titles.length} cards created.`
    const hidden = ids.filter((id) => tools.reveal(id)).length
    if (hidden > 0)
      showToast(
        `${said} ${hidden === 1 ? 'It does' : 'They do'} not match the filter, and will be hidden when the filter changes.`,
        { label: 'Clear filter', run: () => setFilter('') },
      )
    else announce(said)
    tools.composing.set({ column_id, after_id: ids.at(-1) ?? after_id })
    return true
  }
  const close = () => {
    const column = tools.view.columns.find(({ id }) => id === column_id)
    const shown = column ? tools.shownIn(column) : []
    const next = shown.find(({ id }) => id === after_id) ?? shown[0]
    flushSync(() => tools.composing.set(undefined))
    if (next) tools.focusCard(next.id)
    else tools.focusLane(column_id)
  }
  const steer = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close()
    if (event.key !== 'Enter') return
    event.preventDefault()
    if (!text.trim()) close()
    else if (make(linesOf(text))) write('')
  }
  const paste = (event: ClipboardEvent) => {
    const lines = linesOf(event.clipboardData.getData('text/plain'))
    if (lines.length > 1 && make(lines)) event.preventDefault()
  }
  return (
    <div className="composer">
      <textarea
        ref={field}
        aria-label="Title of the new card"
        placeholder="What is to be done?"
        rows={2}
        value={text}
        onChange={(event) => write(event.target.value)}
        onKeyDown={steer}
        onPaste={paste}
      />
      <TooLong text={longest(linesOf(text))} />
      <span className="composer-foot">
        <button
          type="button"
          className="button is-primary"
          onClick={() => {
            if (!text.trim() || make(linesOf(text))) write('')
            field.current?.focus()
          }}
        >
          Add
        </button>
        <button type="button" className="button is-quiet" onClick={close}>
          Done
        </button>
      </span>
    </div>
  )
}
