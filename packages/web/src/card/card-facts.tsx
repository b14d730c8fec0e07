import type { Card } from '@lockstep/client'
import { type RefObject, useRef } from 'react'
import { useTools } from '../board/board-tools.ts'
import { Icon } from '../ui/icon.tsx'
import { Keys } from '../ui/keys.tsx'
import { Avatar, nameOf, tinted } from '../ui/people.tsx'

/** What a card is about, and who does it. */
export function CardFacts({ card }: { card: Card }) {
  const tools = useTools()
  const ask = (what: 'labels' | 'assignees') => tools.asking.set({ what, card_id: card.id })
  const people = useRef<HTMLButtonElement>(null)
  const isOn = card.assignees.some(({ id }) => id === tools.me.id)
  return (
    <div className="cd-facts">
      <section className="cd-fact" aria-label="Labels">
        <h3>Labels</h3>
        <div className="cd-chips">
          {card.labels.map((label) => (
            <span key={label.id} className="tag" style={tinted(label.color)}>
              {label.name}
            </span>
          ))}
          <Small label={card.labels.length > 0 ? 'Edit labels' : 'Add labels'} keys="L" onClick={() => ask('labels')} />
        </div>
      </section>
      <section className="cd-fact" aria-label="People">
        <h3>People</h3>
        <ul className="cd-people">
          {card.assignees.map((user) => (
            <li key={user.id}>
              <Avatar person={user} />
              {nameOf(user)}
            </li>
          ))}
        </ul>
        <div className="cd-chips">
          <Small
            label={card.assignees.length > 0 ? 'Edit people' : 'Assign people'}
            keys="A"
            button={people}
            onClick={() => ask('assignees')}
          />
          {!isOn && (
            <Small
              label="Assign me"
              onClick={() => {
                tools.toggleMe(card.id)
                // This button goes, the one beside it stays.
                people.current?.focus()
              }}
            />
          )}
        </div>
      </section>
    </div>
  )
}

interface SmallProps {
  label: string
  keys?: string
  onClick: () => void
  button?: RefObject<HTMLButtonElement | null>
}

function Small({ label, keys, onClick, button }: SmallProps) {
  return (
    <button ref={button} type="button" className="cd-small" onClick={onClick}>
      <Icon name={label.startsWith('Edit') ? 'edit' : 'plus'} size={12} />
      {label} {keys && <Keys keys={keys} />}
    </button>
  )
}
