import type { Removal } from '@lockstep/client'
import { useTools } from '../board-state/board-tools.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { relativeTime } from '../boards/relative-time.ts'
import { fullDate } from '../ui/dates.ts'
import { nameOf } from '../ui/people.tsx'
import { t } from './messages.ts'

const DAY_MS = 86_400_000

/** Who archived or deleted it, and when. */
export function RemovalNote({ removed: { as, at, by } }: { removed: Removal }) {
  const tools = useTools()
  const board = useShownBoard()
  const when = relativeTime(at, Date.now()) ?? t.justNow
  const user = by === null ? undefined : board.member(by)
  const name = user ? nameOf(user) : t.someone
  const text =
    by === tools.me.id
      ? (as === 'archived' ? t.archivedByYou : t.deletedByYou)({ when })
      : (as === 'archived' ? t.archivedBy : t.deletedBy)({ name, when })
  return (
    <time dateTime={at} title={fullDate(at)}>
      {text}
    </time>
  )
}

/** How long a deleted thing is kept. */
export function DaysLeft({ removed: { until } }: { removed: Removal }) {
  if (until === null) return null
  const days = (Date.parse(until) - Date.now()) / DAY_MS
  return (
    <span className="removed-left" title={t.keptUntil({ date: fullDate(until) })}>
      {days < 1 ? t.lastDay : t.daysLeft({ count: Math.round(days) })}
    </span>
  )
}
