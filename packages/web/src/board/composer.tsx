import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { announce } from '../ui/announcer.tsx'
import { keep, readKept } from '../ui/kept.ts'
import { type Composing, useTools } from './board-tools.ts'

/** Where new cards are written: Enter makes one and stays, and every pasted line is a card. */
export function Composer({ column_id, after_id }: Composing) {
  const tools = useTools()
  const draft = `draft/${tools.me.id}/${tools.board_id}/new-card`
  const [title, setTitle] = useState(() => readKept(draft) ?? '')
  const field = useRef<HTMLTextAreaElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the cards that it makes
  useEffect(() => field.current?.focus(), [after_id])

  const write = (text: string) => {
    setTitle(text)
    keep(draft, text || undefined)
  }
  const make = (titles: string[]) => {
    let last = after_id
    for (const text of titles) {
      last = tools.change('createCard', { column_id, title: text.slice(0, 255), after_id: last }).id
    }
    announce(titles.length === 1 ? `“${titles[0]}” created.` : `${titles.length} cards created.`)
    tools.composing.set({ column_id, after_id: last })
  }
  const close = () => {
    tools.composing.set(undefined)
    tools.focusCard(after_id ?? tools.view.columns.find(({ id }) => id === column_id)?.cards[0]?.id)
  }
  const steer = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close()
    if (event.key !== 'Enter') return
    event.preventDefault()
    if (!title.trim()) return close()
    make([title.trim()])
    write('')
  }
  const paste = (event: ClipboardEvent) => {
    const lines = event.clipboardData
      .getData('text/plain')
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
    if (lines.length < 2) return
    event.preventDefault()
    make(lines)
  }
  return (
    <div className="composer">
      <textarea
        ref={field}
        aria-label="Title of the new card"
        placeholder="What is to be done?"
        rows={2}
        value={title}
        maxLength={255}
        onChange={(event) => write(event.target.value)}
        onKeyDown={steer}
        onPaste={paste}
      />
      <span className="composer-foot">
        <button
          type="button"
          className="button is-primary"
          onClick={() => {
            if (title.trim()) make([title.trim()])
            write('')
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
