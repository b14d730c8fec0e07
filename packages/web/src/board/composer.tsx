import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { type ComposerPosition, useTools } from '../board-state/board-tools.ts'
import { setFilter } from '../board-state/filter-address.ts'
import { announce } from '../ui/announcer.tsx'
import { readStored, writeStored } from '../ui/browser-storage.ts'
import { useSecondClickGuard } from '../ui/second-click.ts'
import { showToast } from '../ui/toasts.ts'
import { TooLong, tooLong } from '../ui/too-long.tsx'
import { t } from './messages.ts'

const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
const longest = (lines: readonly string[]) =>
  lines.reduce((one, other) => (other.length > one.length ? other : one), '')

/** The field for new cards. Enter creates a card and keeps the field open; every pasted line becomes a card. */
export function Composer({ position, columnTitle }: { position: ComposerPosition; columnTitle: string }) {
  const { column_id, after_id } = position
  const tools = useTools()
  const draft = `draft/${tools.me.id}/${tools.board_id}/new-card/${column_id}`
  const [text, setText] = useState(() => readStored(draft) ?? '')
  const field = useRef<HTMLTextAreaElement>(null)
  const root = useRef<HTMLDivElement>(null)
  const guard = useSecondClickGuard()
  // biome-ignore lint/correctness/useExhaustiveDependencies: every request to add a card is a new position, also a second click on the button
  useEffect(() => {
    field.current?.focus({ preventScroll: true })
    root.current?.scrollIntoView({ block: 'nearest' })
  }, [position])

  // It grows with the text, and the list a moment later: on a slow machine not in the same frame.
  useEffect(() => {
    const element = root.current
    const list = element?.closest('ol')
    if (!element || !list) return
    let frame = 0
    let hasGrown = false
    const observer = new ResizeObserver((entries) => {
      hasGrown ||= entries.some(({ target }) => target === element)
      // Others change the list too, while the user may have scrolled away.
      if (!hasGrown) return
      if (entries.some(({ target }) => target === list)) hasGrown = false
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(() => element.scrollIntoView({ block: 'nearest' }))
    })
    observer.observe(element)
    observer.observe(list)
    return () => {
      observer.disconnect()
      cancelAnimationFrame(frame)
    }
  }, [])

  const write = (next: string) => {
    setText(next)
    writeStored(draft, next || undefined)
  }
  /** Returns whether the cards were created: a title that is too long stays in the field. */
  const create = (titles: readonly string[]): boolean => {
    if (tooLong(longest(titles))) return false
    const ids: string[] = []
    // Render first: then it is known whether the filter hides the cards.
    flushSync(() => {
      for (const title of titles)
        ids.push(tools.change('createCard', { column_id, title, after_id: ids.at(-1) ?? after_id }).id)
    })
    const created =
      titles.length === 1 ? t.createdCard({ title: titles[0] ?? '' }) : t.createdCards({ count: titles.length })
    const hidden = ids.filter((id) => tools.reveal(id)).length
    if (hidden > 0)
      showToast(t.createdHidden({ count: hidden, created }), { label: t.clearFilter, run: () => setFilter('') })
    else announce(created)
    tools.composing.set({ column_id, after_id: ids.at(-1) ?? after_id })
    return true
  }
  const close = () => {
    const column = tools.view.columns.find(({ id }) => id === column_id)
    const shown = column ? tools.shownIn(column) : []
    const next = shown.find(({ id }) => id === after_id) ?? shown[0]
    flushSync(() => tools.composing.set(undefined))
    if (next) tools.focusCard(next.id)
    else tools.focusColumn(column_id)
  }
  const handleKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close()
    if (event.key !== 'Enter') return
    event.preventDefault()
    if (!text.trim()) close()
    else if (create(linesOf(text))) write('')
  }
  const paste = (event: ClipboardEvent) => {
    const lines = linesOf(event.clipboardData.getData('text/plain'))
    if (lines.length > 1 && create(lines)) event.preventDefault()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a press beside its controls stays in the field
    <div
      ref={root}
      className="composer"
      {...guard}
      onMouseDown={(event) => {
        // Such as the second one of a double click on Add card, when the composer has moved down.
        if ((event.target as Element).closest('textarea, button')) return
        event.preventDefault()
        field.current?.focus()
      }}
    >
      <textarea
        ref={field}
        dir="auto"
        aria-label={t.cardTitle}
        placeholder={t.newCardIn({ column: columnTitle })}
        rows={2}
        value={text}
        onChange={(event) => write(event.target.value)}
        onKeyDown={handleKey}
        onPaste={paste}
      />
      <TooLong text={longest(linesOf(text))} />
      <span className="composer-foot">
        <button
          type="button"
          className="button is-primary"
          onClick={() => {
            if (!text.trim() || create(linesOf(text))) write('')
            field.current?.focus()
          }}
        >
          {t.addCard}
        </button>
        <button type="button" className="button is-quiet" onClick={close}>
          {t.cancel}
        </button>
      </span>
    </div>
  )
}
