import type { Card } from '@lockstep/client'
import { useTools } from '../board-state/board-tools.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { announce } from '../ui/announcer.tsx'
import { Icon } from '../ui/icon.tsx'
import { tinted } from '../ui/people.tsx'
import { PickList } from '../ui/pick-list.tsx'
import { tooLong } from '../ui/too-long.tsx'
import { newLabelColor } from './label-colors.ts'
import { t } from './messages.ts'
import './pickers.css'

/** Maximum length of a label's name in characters. */
export const MAX_LABEL_LENGTH = 50

interface LabelPickerProps {
  card: Card
  onDone: () => void
  onManage: () => void
}

/** The labels of the board, with those of the card checked. */
export function LabelPicker({ card, onDone, onManage }: LabelPickerProps) {
  const tools = useTools()
  const { labels } = useShownBoard().view
  const chosen = new Set(card.labels.map(({ id }) => id))
  const toggle = (label_id: string, name: string) => {
    const isOn = chosen.has(label_id)
    tools.change(isOn ? 'removeCardLabel' : 'addCardLabel', { card_id: card.id, label_id })
    announce((isOn ? t.removedLabel : t.addedLabel)({ name }))
  }
  const create = (name: string) =>
    toggle(tools.change('createLabel', { name, color: newLabelColor(labels.length) }).id, name)
  return (
    <>
      <PickList
        label={t.findLabel}
        choices={labels.map(({ id, name, color }) => ({
          id,
          text: name,
          content: (
            <>
              <span className="icon dot" style={tinted(color)} />
              <span dir="auto">{name}</span>
            </>
          ),
        }))}
        chosen={chosen}
        onToggle={(id) => toggle(id, labels.find((label) => label.id === id)?.name ?? '')}
        onCreate={create}
        problemOf={(name) => tooLong(name, MAX_LABEL_LENGTH)}
        onDone={onDone}
        empty={t.noLabels}
      />
      {labels.length > 0 && (
        <button type="button" className="menu-item label-manage" onClick={onManage}>
          <Icon name="edit" />
          {t.manageLabelsMenu}
        </button>
      )}
    </>
  )
}
