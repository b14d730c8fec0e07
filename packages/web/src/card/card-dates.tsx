import type { Card } from '@lockstep/client'
import { fullDate, shortDate } from '../ui/dates.ts'
import { Icon } from '../ui/icon.tsx'
import { t } from './messages.ts'
import { useLastAuthor } from './use-last-author.ts'

/** When the card was created and updated. */
export function CardDates({ card }: { card: Card }) {
  const author = useLastAuthor(card)
  return (
    <div className="cd-dates">
      <DateRow label={t.created} at={card.created_at} />
      <DateRow label={t.updated} at={card.updated_at} author={author} />
    </div>
  )
}

interface DateRowProps {
  label: string
  at: string
  author?: string | undefined
}

function DateRow({ label, at, author }: DateRowProps) {
  const date = shortDate(at)
  const byAuthor = author === t.you ? t.dateByYou({ date }) : author && t.dateBy({ date, name: author })
  return (
    <p className="cd-property">
      <Icon name="clock" />
      <span className="cd-property-name">{label}</span>
      <time className="cd-property-value" dateTime={at} title={fullDate(at)}>
        {byAuthor ?? date}
      </time>
    </p>
  )
}
