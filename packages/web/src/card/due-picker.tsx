import type { Card } from '@lockstep/client'
import { type Day, dateWords, parseDay, withoutTime } from '@lockstep/client/days'
import { useId, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useTools } from '../board-state/board-tools.ts'
import { dayNames } from '../ui/days.ts'
import { useStore } from '../ui/store.ts'
import { today } from '../ui/today.ts'
import { t } from './messages.ts'
import { MonthGrid } from './month-grid.tsx'
import './due-picker.css'

const WORDS = dateWords(navigator.language)

/** Buttons, with what one could type instead. */
const suggestions = [
  { label: t.today, text: 'today' },
  { label: t.tomorrow, text: 'tomorrow' },
  { label: t.nextWeek, text: 'next week' },
]

interface DuePickerProps {
  card: Card
  onDone: () => void
}

/** A field that understands a typed day, and a calendar. */
export function DuePicker({ card, onDone }: DuePickerProps) {
  const tools = useTools()
  const now = useStore(today)
  const due_on = card.due_on ?? null
  const [text, setText] = useState('')
  // A day in the past is rarely chosen again.
  const start = due_on && due_on > now ? due_on : now
  const [active, setActive] = useState(start)
  const id = useId()
  const content = useRef<HTMLDivElement>(null)
  const typed = parseDay(text, now, WORDS)
  const isWrong = text.trim() !== '' && typed === undefined
  const set = (day: Day | null) => {
    tools.setDue(card.id, day)
    onDone()
  }
  const write = (next: string) => {
    setText(next)
    // The calendar shows the typed day.
    setActive(parseDay(next, now, WORDS) ?? start)
  }
  const focusDay = (day: Day) => {
    flushSync(() => setActive(day))
    content.current?.querySelector<HTMLElement>(`[data-day="${day}"]`)?.focus()
  }
  return (
    <div ref={content} className="due-picker">
      <div className="due-picker-row">
        <input
          className="input"
          aria-label={t.dueDate}
          aria-describedby={id}
          aria-invalid={isWrong}
          placeholder={t.dueDate}
          autoComplete="off"
          value={text}
          onChange={(event) => write(event.target.value)}
          onKeyDown={(event) => {
            // Enter also ends the composition of an input method.
            if (event.nativeEvent.isComposing || !['Enter', 'ArrowDown'].includes(event.key)) return
            // Closing moves the focus to the button that opened the picker, which Enter would press.
            event.preventDefault()
            if (event.key === 'ArrowDown') focusDay(active)
            else if (text.trim() === '') onDone()
            else if (typed !== undefined) set(typed)
          }}
        />
        <button type="button" className="button" disabled={due_on === null} onClick={() => set(null)}>
          {t.clear}
        </button>
      </div>
      <p id={id} className={isWrong ? 'due-picker-preview is-wrong' : 'due-picker-preview'} role="status">
        {previewOf(text, typed, now)}
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div className="due-picker-days" role="group" aria-label={t.shortcutDays}>
        {suggestions.map(({ label, text: phrase }) => {
          const day = parseDay(phrase, now, WORDS)
          return (
            day && (
              <button key={phrase} type="button" className="button" title={dayNames.full(day)} onClick={() => set(day)}>
                {label}
              </button>
            )
          )
        })}
      </div>
      <MonthGrid
        active={active}
        chosen={typed === undefined ? due_on : typed}
        today={now}
        onShow={setActive}
        onFocus={focusDay}
        onPick={set}
      />
    </div>
  )
}

/** What pressing Enter would set, or what can be typed. */
function previewOf(text: string, typed: Day | null | undefined, now: Day): string {
  if (text.trim() === '') return t.dayHint
  if (typed === undefined) {
    const day = withoutTime(text)
    return day !== undefined && parseDay(day, now, WORDS) ? t.noTime({ day }) : t.notADay
  }
  return typed === null ? t.noDueDate : dayNames.full(typed)
}
