import type { Column } from '@lockstep/client'
import { useState } from 'react'
import { Dialog } from '../ui/dialog.tsx'
import { Select } from '../ui/select.tsx'
import { t } from './messages.ts'

interface ColumnQuestionProps {
  item: { title: string }
  columns: readonly Column[]
  onChoose: (column_id: string) => void
  onClose: () => void
}

/** Asks for the column of a card whose own column is gone. */
export function ColumnQuestion({ item: { title }, columns, onChoose, onClose }: ColumnQuestionProps) {
  const [chosen, setChosen] = useState<string>()
  const column_id = columns.find(({ id }) => id === chosen)?.id ?? columns[0]?.id
  return (
    <Dialog title={t.chooseColumn({ title })} size="small" onClose={onClose}>
      <form
        className="dialog-body"
        onSubmit={(event) => {
          event.preventDefault()
          if (column_id) onChoose(column_id)
        }}
      >
        <p className="hint">{column_id ? t.columnGone : t.noColumns}</p>
        {column_id && (
          <div className="stack">
            <Select
              label={t.restoreTo}
              isLabelShown
              value={column_id}
              options={columns.map((column) => ({ value: column.id, label: column.title }))}
              onChange={setChosen}
            />
          </div>
        )}
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t.cancel}
          </button>
          {column_id && (
            <button type="submit" className="button is-primary">
              {t.restore}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  )
}
