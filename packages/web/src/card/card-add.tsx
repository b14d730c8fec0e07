import type { Card } from '@lockstep/client'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Keys } from '../ui/keys.tsx'
import { momentOf, shortMomentOf } from '../ui/moment.ts'
import type { CardActs } from './card-keys.ts'

/** What can be added to a card, and since when it is there. */
export function CardAdd({ card, acts }: { card: Card; acts: CardActs }) {
  return (
    <div className="cd-add">
      <div className="cd-actions">
        <Action icon="list" label="Add a checklist" keys="K" onClick={acts.newChecklist} />
        <Action icon="upload" label="Attach files" keys="U" onClick={acts.upload} />
      </div>
      <p className="cd-times">
        Created <time dateTime={card.created_at}>{momentOf(card.created_at)}</time>
        <br />
        Changed <time dateTime={card.updated_at}>{shortMomentOf(card.updated_at)}</time>
      </p>
    </div>
  )
}

interface ActionProps {
  icon: IconName
  label: string
  keys: string
  onClick: () => void
}

const Action = ({ icon, label, keys, onClick }: ActionProps) => (
  <button type="button" className="cd-action" onClick={onClick}>
    <Icon name={icon} />
    <span>{label}</span>
    <Keys keys={keys} />
  </button>
)
