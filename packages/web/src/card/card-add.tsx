import type { Card } from '@lockstep/client'
import { fullDate, shortDate } from '../ui/dates.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Keys } from '../ui/keys.tsx'
import type { CardActions } from './card-keys.ts'

/** Buttons to add a checklist or files, and the dates of the card. */
export function CardAdd({ card, actions }: { card: Card; actions: CardActions }) {
  return (
    <div className="cd-add">
      <div className="cd-actions">
        <ActionButton icon="list" label="Add checklist" keys="K" onClick={actions.newChecklist} />
        <ActionButton icon="upload" label="Attach files" keys="U" onClick={actions.upload} />
      </div>
      <p className="cd-times">
        Created <time dateTime={card.created_at}>{fullDate(card.created_at)}</time>
        <br />
        Updated <time dateTime={card.updated_at}>{shortDate(card.updated_at)}</time>
      </p>
    </div>
  )
}

interface ActionButtonProps {
  icon: IconName
  label: string
  keys: string
  onClick: () => void
}

const ActionButton = ({ icon, label, keys, onClick }: ActionButtonProps) => (
  <button type="button" className="cd-action" onClick={onClick}>
    <Icon name={icon} />
    <span>{label}</span>
    <Keys keys={keys} />
  </button>
)
