import type { Day } from '@lockstep/client/days'
import type { KeyboardEvent } from 'react'
import { dayNames } from '../ui/days.ts'
import { Icon } from '../ui/icon.tsx'
import { t } from './messages.ts'
import { addMonths, dayAfterKey, firstWeekday, isSameMonth, weeksOf } from './month.ts'

const FIRST = firstWeekday(navigator.language)

/** The day that is a Tab stop. */
export const activeDay = (): HTMLElement | null => document.querySelector<HTMLElement>('.month-day[tabindex="0"]')

interface MonthGridProps {
  /** The day that is a Tab stop. Its month is shown. */
  active: Day
  chosen: Day | null
  today: Day
  /** Shows another month. */
  onShow: (day: Day) => void
  /** Moves the focus to a day. */
  onFocus: (day: Day) => void
  onPick: (day: Day) => void
}

/** A calendar page. It is an ARIA grid: one day is a Tab stop, and the arrow keys move between days. */
export function MonthGrid({ active, chosen, today, onShow, onFocus, onPick }: MonthGridProps) {
  const weeks = weeksOf(active, FIRST)
  const handleKey = (event: KeyboardEvent) => {
    const day = dayAfterKey(event.key, active, FIRST)
    if (!day || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    onFocus(day)
  }
  return (
    <div className="month">
      <div className="month-head">
        <button
          type="button"
          className="icon-button"
          aria-label={t.previousMonth}
          onClick={() => onShow(addMonths(active, -1))}
        >
          <Icon name="left" />
        </button>
        <b id="month-name" aria-live="polite">
          {dayNames.month(active)}
        </b>
        <button
          type="button"
          className="icon-button"
          aria-label={t.nextMonth}
          onClick={() => onShow(addMonths(active, 1))}
        >
          <Icon name="right" />
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a grid of days is a table with focusable cells */}
      <table role="grid" aria-labelledby="month-name" onKeyDown={handleKey}>
        <thead>
          <tr>
            {weeks[0]?.map((day) => (
              <th key={day} scope="col" abbr={dayNames.longWeekday(day)}>
                {dayNames.weekday(day)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week) => (
            <tr key={week[0]}>
              {week.map((day) => (
                // biome-ignore lint/a11y/useAriaPropsSupportedByRole: a cell of a grid has the role gridcell
                <td key={day} aria-selected={day === chosen}>
                  <button
                    type="button"
                    data-day={day}
                    className={isSameMonth(day, active) ? 'month-day' : 'month-day is-outside'}
                    tabIndex={day === active ? 0 : -1}
                    aria-label={dayNames.full(day)}
                    aria-current={day === today ? 'date' : undefined}
                    onClick={() => onPick(day)}
                  >
                    {dayNames.number(day)}
                  </button>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
