import type { InboxItem } from '@lockstep/client'
import { Link } from 'wouter'
import { relativeTime } from '../boards/relative-time.ts'
import { fullDate } from '../ui/dates.ts'
import { Icon } from '../ui/icon.tsx'
import { Avatar, nameOf } from '../ui/people.tsx'
import { plainExcerpt } from './excerpt.ts'
import { t } from './messages.ts'

interface InboxRowProps {
  readonly item: InboxItem
  /** The time to which relative times refer. */
  readonly now: number
  readonly onMark: (item: InboxItem, isRead: boolean) => void
}

/** An item of the inbox: a link to what it is about, and a button that marks it. */
export function InboxRow({ item, now, onMark }: InboxRowProps) {
  const { board, card, comment, count, changed_at } = item
  const person = item.actor ?? item.trigger?.actor
  const isUnread = item.read_at === null
  const title = card ? t.numbered(card) : board.title
  const markLabel = isUnread ? t.markAsRead({ title }) : t.markAsUnread({ title })
  return (
    <li className={isUnread ? 'inbox-row is-unread' : 'inbox-row'}>
      <Link href={pathOf(item)} className="inbox-link" onClick={() => isUnread && onMark(item, true)}>
        {/* The text says who it is. */}
        <span className="inbox-actor" aria-hidden="true">
          {person ? <Avatar person={person} /> : <Icon name="bolt" />}
        </span>
        <span className="inbox-text">
          <span className="inbox-what" dir="auto">
            {isUnread && <span className="visually-hidden">{t.unread} </span>}
            <span className="inbox-event">{eventOf(item)}</span> {count > 1 && t.andMore({ count: count - 1 })}
          </span>{' '}
          <span className="inbox-where" dir="auto">
            {card ? `${title} · ${board.title}` : title}
          </span>{' '}
          {comment && (
            <span className="inbox-excerpt" dir="auto">
              {t.quoted({ text: plainExcerpt(comment.excerpt) })}
            </span>
          )}{' '}
        </span>
        <time className="inbox-time" dateTime={changed_at} title={fullDate(changed_at)}>
          {relativeTime(changed_at, now) ?? t.justNow}
        </time>
      </Link>
      <button
        type="button"
        className="icon-button"
        aria-label={markLabel}
        title={markLabel}
        onClick={() => onMark(item, isUnread)}
      >
        <Icon name={isUnread ? 'check' : 'circle'} />
      </button>
    </li>
  )
}

/** The card over its board, at the comment if there is one. */
function pathOf({ board, card, comment }: InboxItem): string {
  if (!card) return `/b/${board.id}`
  return `/b/${board.id}/c/${card.id}${comment ? `?comment=${comment.id}` : ''}`
}

function eventOf({ reason, actor, trigger }: InboxItem): string {
  if (actor)
    return { mentioned: t.mentionedYou, assigned: t.assignedYou, added: t.addedYou }[reason]({ name: nameOf(actor) })
  // A rule only assigns, also if the reason is an earlier mention.
  return trigger ? startOf(trigger) : t.assignedYou({ name: t.aRule })
}

/** Who started the rule that assigned the user, and how. */
function startOf({ type, actor, column, label }: NonNullable<InboxItem['trigger']>): string {
  const name = nameOf(actor)
  if (type === 'LABEL_ADDED') return label ? t.labeledBy({ name, label: label.name }) : t.labelAddedBy({ name })
  return column ? t.movedToBy({ name, column: column.title }) : t.movedBy({ name })
}
