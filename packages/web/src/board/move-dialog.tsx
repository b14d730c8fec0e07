import { useState } from 'react'
import { placementAt } from '../board-state/board-model.ts'
import { useTools } from '../board-state/board-tools.ts'
import { Dialog } from '../ui/dialog.tsx'

/** Moves a card with two lists, as an alternative to dragging. */
export function MoveDialog({ card_id }: { card_id: string }) {
  const tools = useTools()
  const found = tools.find(card_id)
  const [column_id, setColumn] = useState(found?.column.id)
  const close = () => {
    tools.picker.set(undefined)
    tools.focusCard(card_id)
  }
  const column = tools.view.columns.find(({ id }) => id === column_id) ?? found?.column
  const others = column ? tools.shownIn(column).filter(({ id }) => id !== card_id) : []
  const here = found && column?.id === found.column.id ? tools.shownIn(column).indexOf(found.card) : 0
  const [position, setPosition] = useState(Math.max(here, 0))
  if (!found || !column) return null
  const chosen = Math.min(position, others.length)
  return (
    <Dialog title={`Move “${found.card.title}”`} size="small" onClose={close}>
      <form
        className="dialog-body"
        onSubmit={(event) => {
          event.preventDefault()
          tools.picker.set(undefined)
          tools.move(card_id, placementAt(column, others, chosen, card_id))
        }}
      >
        <label className="stack">
          Column
          <select
            className="input"
            value={column.id}
            onChange={(event) => {
              setColumn(event.target.value)
              setPosition(0)
            }}
          >
            {tools.view.columns.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <label className="stack">
          Position
          <select className="input" value={chosen} onChange={(event) => setPosition(Number(event.target.value))}>
            {[...others, undefined].map((below, index) => (
              <option key={below?.id ?? 'last'} value={index}>
                {index + 1}
                {below ? `, before “${below.title.slice(0, 60)}”` : others.length === 0 ? '' : ', last'}
              </option>
            ))}
          </select>
        </label>
        <div className="dialog-foot">
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button is-primary">
            Move
          </button>
        </div>
      </form>
    </Dialog>
  )
}
