import { Link } from 'wouter'
import { filterQuery } from '../board/filter-address.ts'
import { Icon } from '../ui/icon.tsx'
import { clockOf, momentOf } from '../ui/moment.ts'
import { Avatar } from '../ui/people.tsx'
import type { Actor } from './event-sentence.ts'
import type { Line } from './group-events.ts'
import type { Words } from './sentence.ts'

export function ActivityLine({ line, board_id }: { line: Line; board_id: string }) {
  const { actor, sentence, at } = line
  return (
    <li className="activity-line">
      <span aria-hidden="true">
        <Face actor={actor} />
      </span>
      <p>
        <strong>{actor.name}</strong> {sentence.verb} <Part words={sentence.object} board_id={board_id} />
        {sentence.rest.map((words, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the words of a sentence stand where they stand
          <span key={i}>
            {' '}
            <Part words={words} board_id={board_id} />
          </span>
        ))}
      </p>
      <time dateTime={at} title={momentOf(at)}>
        {clockOf(at)}
      </time>
    </li>
  )
}

function Part({ words: { text, card_id }, board_id }: { words: Words; board_id: string }) {
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
