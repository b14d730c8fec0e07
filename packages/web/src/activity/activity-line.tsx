import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { filterQuery } from '../board-state/filter-address.ts'
import { clockTime, fullDate } from '../ui/dates.ts'
import { Icon } from '../ui/icon.tsx'
import { Avatar } from '../ui/people.tsx'
import type { Actor } from './describe-log.ts'
import type { ActivityLineData } from './group-events.ts'
import type { SentencePart } from './sentence.ts'

interface ActivityLineProps {
  line: ActivityLineData
  board_id: string
  /** How the time is written. */
  timeOf?: (at: string) => string
  /** Shown after the line. */
  children?: ReactNode
}

export function ActivityLine({ line, board_id, timeOf = clockTime, children }: ActivityLineProps) {
  const { actor, sentence, at } = line
  return (
    <li className="activity-line">
      <span aria-hidden="true">
        <Face actor={actor} />
      </span>
      <p>
        <strong>{actor.name}</strong> {sentence.verb} <Part part={sentence.object} board_id={board_id} />
        {sentence.rest.map((part, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence never move
          <span key={i}>
            {' '}
            <Part part={part} board_id={board_id} />
          </span>
        ))}
      </p>
      <time dateTime={at} title={fullDate(at)}>
        {timeOf(at)}
      </time>
      {children}
    </li>
  )
}

function Part({ part: { text, card_id }, board_id }: { part: SentencePart; board_id: string }) {
  return card_id ? <Link href={`/b/${board_id}/c/${card_id}${filterQuery()}`}>{text}</Link> : text
}

function Face({ actor }: { actor: Actor }) {
  if (actor.kind === 'person') return <Avatar person={{ id: actor.id, username: actor.name }} />
  return (
    <span className="activity-service">
      <Icon name={actor.kind === 'rule' ? 'bolt' : 'settings'} size={14} />
    </span>
  )
}
