import { Icon, type IconName } from '../ui/icon.tsx'
import { Keys } from '../ui/keys.tsx'
import type { CardActions } from './card-keys.ts'
import { t } from './messages.ts'

/** Buttons to add a checklist or files. */
export function CardAdd({ actions }: { actions: CardActions }) {
  return (
    <div className="cd-add">
      <ActionButton icon="list" label={t.addChecklist} keys="K" onClick={actions.newChecklist} />
      <ActionButton icon="upload" label={t.attachFiles} keys="U" onClick={actions.upload} />
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
