import { draggable } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import { setCustomNativeDragPreview } from '@atlaskit/pragmatic-drag-and-drop/element/set-custom-native-drag-preview'
import type { Column } from '@lockstep/client'
import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { type BoardTools, useTools } from '../board-state/board-tools.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import { tinted } from '../ui/people.tsx'
import { dragPreview } from './drag-preview.ts'
import { NameField } from './name-field.tsx'

export const columnColors = [
  ['Stone', '#8a8171'],
  ['Amber', '#b45309'],
  ['Violet', '#6d4bb0'],
  ['Green', '#2f7a4a'],
  ['Blue', '#2563a8'],
  ['Rose', '#b4325f'],
] as const

/** Name, number of cards and menu of a column. It is also the column's drag handle. */
export function ColumnHead({ column, shown }: { column: Column; shown: number | undefined }) {
  const tools = useTools()
  const head = useRef<HTMLDivElement>(null)
  const [isRenaming, setRenaming] = useState(false)
  useEffect(() => {
    const element = head.current
    const section = element?.closest('section')
    if (!element || !section) return
    return draggable({
      element,
      // While renaming, dragging selects text.
      canDrag: () => !element.querySelector('input'),
      getInitialData: () => ({ kind: 'column', id: column.id, height: 0 }),
      onGenerateDragPreview: ({ nativeSetDragImage, location }) =>
        setCustomNativeDragPreview({ nativeSetDragImage, ...dragPreview(section, location.current.input) }),
    })
  }, [column.id])
  const count = column.cards.length
  return (
    <div ref={head} className="column-head" style={tinted(column.color)}>
      <span className="column-tab" aria-hidden="true" />
      {isRenaming ? (
        <NameField
          label="Column name"
          className="input column-title-field"
          value={column.title}
          onSave={(title) => tools.change('updateColumn', { column_id: column.id, title })}
          onDone={() => setRenaming(false)}
          onKey={() => {
            flushSync(() => setRenaming(false))
            head.current?.querySelector('button')?.focus()
          }}
        />
      ) : (
        <h2 title={column.title}>{column.title}</h2>
      )}
      <span className="column-count" aria-hidden="true">
        {shown === undefined ? count : `${shown}/${count}`}
      </span>
      {column.is_done_column && (
        <span className="column-done" title="Done column">
          <Icon name="check" size={14} />
          <span className="visually-hidden">Done column</span>
        </span>
      )}
      <span className="spacer" />
      <Menu label={`Actions for ${column.title}`} items={columnMenu(tools, column, () => setRenaming(true))}>
        <Icon name="more" />
      </Menu>
    </div>
  )
}

function columnMenu(tools: BoardTools, column: Column, rename: () => void): (MenuItem | undefined)[] {
  const { columns } = tools.view
  const at = columns.findIndex(({ id }) => id === column.id)
  const move = (to: number) => tools.moveColumn(column, to)
  const next = columnColors[(columnColors.findIndex(([, color]) => color === column.color) + 1) % columnColors.length]
  return [
    { label: 'Add card at top', icon: 'plus', onSelect: () => tools.compose(column.id, null) },
    { label: 'Rename', icon: 'edit', onSelect: rename },
    {
      label: `Change colour to ${next?.[0].toLowerCase()}`,
      icon: 'tag',
      onSelect: () => tools.change('updateColumn', { column_id: column.id, color: next?.[1] ?? '' }),
    },
    {
      label: column.is_done_column ? 'Unmark as “Done” column' : 'Mark as “Done” column',
      icon: 'check',
      onSelect: () => tools.change('updateColumn', { column_id: column.id, is_done_column: !column.is_done_column }),
    },
    { label: 'Move left', icon: 'left', isDisabled: at <= 0, onSelect: () => move(at - 1) },
    { label: 'Move right', icon: 'right', isDisabled: at === columns.length - 1, onSelect: () => move(at + 1) },
    undefined,
    { label: 'Delete column', icon: 'trash', isDanger: true, onSelect: () => removeColumn(tools, column) },
  ]
}

function removeColumn(tools: BoardTools, column: Column) {
  const files = column.cards.reduce((sum, card) => sum + card.attachments.length, 0)
  const cards = column.cards.length
  const lost = files > 0 ? ` ${files === 1 ? 'One file' : `${files} files`} can’t be restored.` : ''
  if (cards > 0 && !confirm(`Delete “${column.title}” with ${cards === 1 ? 'its card' : `its ${cards} cards`}?${lost}`))
    return
  tools.showUndoToast(`Deleted column “${column.title}”`, tools.change('deleteColumn', { column_id: column.id }))
}
