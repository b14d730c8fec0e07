import { useState } from 'react'
import { placementAt } from '../board-state/board-model.ts'
import { useTools } from '../board-state/board-tools.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { Select } from '../ui/select.tsx'
import { t } from './messages.ts'
import './pickers.css'

interface MoveFormProps {
  card_id: string
  onCancel: () => void
  /** Called before the card moves. */
  onMove: () => void
  className?: string
}

/** Moves a card with two lists, as an alternative to dragging. */
export function MoveForm({ card_id, onCancel, onMove, className = 'move-form' }: MoveFormProps) {
  const tools = useTools()
  const { view, find, shownIn } = useShownBoard()
  const found = find(card_id)
  const [column_id, setColumn] = useState(found?.column.id)
  const column = view.columns.find(({ id }) => id === column_id) ?? found?.column
  const others = column ? shownIn(column).filter(({ id }) => id !== card_id) : []
  const here = found && column?.id === found.column.id ? shownIn(column).indexOf(found.card) : 0
  const [position, setPosition] = useState(Math.max(here, 0))
  if (!found || !column) return null
  const chosen = Math.min(position, others.length)
  const last = others.length === 0 ? '1' : t.positionLast({ position: others.length + 1 })
  const labels = [
    ...others.map(({ title }, index) => t.positionBefore({ position: index + 1, title: title.slice(0, 60) })),
    last,
  ]
  return (
    <form
      className={className}
      onSubmit={(event) => {
        event.preventDefault()
        onMove()
        tools.move(card_id, placementAt(column, others, chosen, card_id))
      }}
    >
      <div className="stack">
        <Select
          label={t.column}
          isLabelShown
          value={column.id}
          options={view.columns.map(({ id, title }) => ({ value: id, label: title }))}
          onChange={(id) => {
            setColumn(id)
            setPosition(0)
          }}
        />
      </div>
      <div className="stack">
        <Select
          label={t.position}
          isLabelShown
          value={String(chosen)}
          options={labels.map((label, index) => ({ value: String(index), label }))}
          onChange={(index) => setPosition(Number(index))}
        />
      </div>
      <div className="dialog-foot">
        <button type="button" className="button" onClick={onCancel}>
          {t.cancel}
        </button>
        <button type="submit" className="button is-primary">
          {t.move}
        </button>
      </div>
    </form>
  )
}
