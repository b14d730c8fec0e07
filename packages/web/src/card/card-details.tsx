import type { Card } from '@lockstep/client'
import { type RefObject, useRef } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { Icon } from '../ui/icon.tsx'
import { Keys } from '../ui/keys.tsx'
import { Avatar, nameOf, tinted } from '../ui/people.tsx'

/** Labels and assignees of a card. */
export function CardDetails({ card }: { card: Card }) {
  const tools = useTools()
  const openPicker = (what: 'labels' | 'assignees') => tools.picker.set({ what, card_id: card.id })
  const assignButton = useRef<HTMLButtonElement>(null)
  const isOn = card.assignees.some(({ id }) => id === tools.me.id)
  return (
    <div className="cd-details">
      <section className="cd-detail" aria-label="Labels">
        <h3>Labels</h3>
        <div className="cd-chips">
          {card.labels.map((label) => (
            <span key={label.id} className="tag" style={tinted(label.color)}>
              {label.name}
            </span>
          ))}
          <SmallButton
            label={card.labels.length > 0 ? 'Edit labels' : 'Add labels'}
            keys="L"
            onClick={() => openPicker('labels')}
          />
        </div>
      </section>
      <section className="cd-detail" aria-label="Assignees">
        <h3>Assignees</h3>
        <ul className="cd-people">
          {card.assignees.map((user) => (
            <li key={user.id}>
              <Avatar person={user} />
              {nameOf(user)}
            </li>
          ))}
        </ul>
        <div className="cd-chips">
          <SmallButton
            label={card.assignees.length > 0 ? 'Edit assignees' : 'Assign'}
            keys="A"
            button={assignButton}
            onClick={() => openPicker('assignees')}
          />
          {!isOn && (
            <SmallButton
              label="Assign me"
              onClick={() => {
                tools.toggleMe(card.id)
                // This button disappears; focus the one beside it.
                assignButton.current?.focus()
              }}
            />
          )}
        </div>
      </section>
    </div>
  )
}

interface SmallButtonProps {
  label: string
  keys?: string
  onClick: () => void
  button?: RefObject<HTMLButtonElement | null>
}

function SmallButton({ label, keys, onClick, button }: SmallButtonProps) {
  return (
    <button ref={button} type="button" className="cd-small" onClick={onClick}>
      <Icon name={label.startsWith('Edit') ? 'edit' : 'plus'} size={12} />
      {label} {keys && <Keys keys={keys} />}
    </button>
  )
}
