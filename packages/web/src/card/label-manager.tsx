import type { Label } from '@lockstep/client'
import { type KeyboardEvent, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { confirmAction } from '../ui/confirm.ts'
import { Icon } from '../ui/icon.tsx'
import { tinted } from '../ui/people.tsx'
import { TooLong, tooLong } from '../ui/too-long.tsx'
import { labelColors } from './label-colors.ts'
import { MAX_LABEL_LENGTH } from './label-picker.tsx'
import { t } from './messages.ts'

interface LabelManagerProps {
  onBack: () => void
  /** Closes the popover, which would cover a question. */
  onClose: () => void
}

/** Renames, recolours and deletes the labels of the board. */
export function LabelManager({ onBack, onClose }: LabelManagerProps) {
  const { view } = useShownBoard()
  const [openId, setOpenId] = useState<string>()
  return (
    <>
      <div className="label-head">
        <button type="button" className="icon-button" aria-label={t.back} onClick={onBack}>
          <Icon name="left" />
        </button>
        <b>{t.manageLabels}</b>
      </div>
      <ul className="label-rows">
        {view.labels.map((label) => (
          <LabelRow
            key={label.id}
            label={label}
            isOpen={label.id === openId}
            onOpen={() => setOpenId(label.id === openId ? undefined : label.id)}
            onClose={onClose}
          />
        ))}
      </ul>
    </>
  )
}

interface LabelRowProps {
  label: Label
  /** Whether the colours are shown. */
  isOpen: boolean
  onOpen: () => void
  onClose: () => void
}

function LabelRow({ label, isOpen, onOpen, onClose }: LabelRowProps) {
  const tools = useTools()
  const { id: label_id, name, color } = label
  const remove = async () => {
    const count = tools.view.columns
      .flatMap(({ cards }) => cards)
      .filter(({ labels }) => labels.some(({ id }) => id === label_id)).length
    onClose()
    const isConfirmed = await confirmAction({
      title: count > 0 ? t.confirmDeleteUsedLabel({ name, count }) : t.confirmDeleteLabel({ name }),
      action: t.delete,
    })
    if (isConfirmed) tools.showUndoToast(t.deletedLabel({ name }), tools.change('deleteLabel', { label_id }))
  }
  return (
    <li>
      <div className="label-row">
        <button
          type="button"
          className="icon-button"
          aria-label={t.labelColor({ name })}
          aria-expanded={isOpen}
          onClick={onOpen}
        >
          <span className="dot" style={tinted(color)} />
        </button>
        <LabelName label={label} />
        <button
          type="button"
          className="icon-button"
          aria-label={t.deleteLabel({ name })}
          onClick={() => void remove()}
        >
          <Icon name="trash" />
        </button>
      </div>
      {isOpen && (
        <fieldset className="label-colors">
          <legend className="visually-hidden">{t.labelColor({ name })}</legend>
          {labelColors.map(([colorName, value]) => (
            <input
              key={value}
              type="radio"
              name={`color-${label_id}`}
              className="swatch"
              aria-label={colorName}
              title={colorName}
              style={tinted(value)}
              checked={value === color.toLowerCase()}
              onChange={() => tools.change('updateLabel', { label_id, color: value })}
            />
          ))}
        </fieldset>
      )}
    </li>
  )
}

/** Enter and blur save the name, Escape restores it. */
function LabelName({ label: { id: label_id, name } }: { label: Label }) {
  const tools = useTools()
  /** The typed text. `undefined` while the field shows the saved name. */
  const [text, setText] = useState<string>()
  const save = () => {
    const typed = text?.trim()
    if (typed && tooLong(typed, MAX_LABEL_LENGTH)) return
    if (typed && typed !== name) tools.change('updateLabel', { label_id, name: typed })
    setText(undefined)
  }
  const handleKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Enter') save()
    if (event.key !== 'Escape' || text === undefined) return
    // The first Escape restores the name, the next one closes the popover.
    event.stopPropagation()
    setText(undefined)
  }
  return (
    <span className="label-name">
      <input
        className="input"
        aria-label={t.labelName({ name })}
        dir="auto"
        value={text ?? name}
        onChange={(event) => setText(event.target.value)}
        onBlur={save}
        onKeyDown={handleKey}
      />
      <TooLong text={text ?? ''} max={MAX_LABEL_LENGTH} />
    </span>
  )
}
