import { draggable } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import { setCustomNativeDragPreview } from '@atlaskit/pragmatic-drag-and-drop/element/set-custom-native-drag-preview'
import type { Column } from '@lockstep/client'
import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { type BoardTools, useReadOnly, useTools } from '../board-state/board-tools.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import type { MenuEntry } from '../ui/menu-types.ts'
import { tinted } from '../ui/people.tsx'
import { dragPreview } from './drag-preview.ts'
import { t } from './messages.ts'
import { NameField } from './name-field.tsx'

const columnColors = [
  [t.stone, '#8a8171'],
  [t.red, '#d33a2c'],
  [t.amber, '#d97706'],
  [t.green, '#16a34a'],
  [t.teal, '#0d9488'],
  [t.blue, '#2f6fcc'],
  [t.violet, '#7c5cd6'],
  [t.rose, '#d6407f'],
] as const

interface ColumnHeadProps {
  column: Column
  /** The number of visible cards under a filter. */
  shown: number | undefined
  /** The ids of all columns. */
  columnOrder: string
}

/** Name, number of cards and menu of a column. It is also the column's drag handle. */
export function ColumnHead({ column, shown, columnOrder }: ColumnHeadProps) {
  const tools = useTools()
  const isReadOnly = useReadOnly()
  const head = useRef<HTMLDivElement>(null)
  const [isRenaming, setRenaming] = useState(false)
  useEffect(() => {
    const element = head.current
    const surface = element?.closest<HTMLElement>('.column-surface')
    if (!element || !surface) return
    return draggable({
      element,
      // While renaming, dragging selects text.
      canDrag: () => !tools.isReadOnly && !element.querySelector('input'),
      getInitialData: () => ({ kind: 'column', id: column.id, height: 0 }),
      onGenerateDragPreview: ({ nativeSetDragImage, location }) =>
        setCustomNativeDragPreview({ nativeSetDragImage, ...dragPreview(surface, location.current.input) }),
    })
  }, [column.id, tools])
  const count = column.cards.length
  return (
    <div ref={head} className="column-head" style={tinted(column.color)}>
      <span className="dot" aria-hidden="true" />
      {isRenaming && !isReadOnly ? (
        <NameField
          label={t.columnName}
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
        <h2 title={column.title} dir="auto" onDoubleClick={() => tools.canChange() && setRenaming(true)}>
          {column.title}
        </h2>
      )}
      <span className="column-count" aria-hidden="true">
        {shown === undefined ? count : `${shown}/${count}`}
      </span>
      {column.is_done_column && (
        <span className="column-done" title={t.isDoneColumn}>
          <Icon name="check" size={14} />
          <span className="visually-hidden">{t.isDoneColumn}</span>
        </span>
      )}
      <span className="spacer" />
      {!isReadOnly && (
        <Menu
          label={t.actionsFor({ title: column.title })}
          items={columnMenu(tools, column, columnOrder.split(','), () => setRenaming(true))}
        >
          <Icon name="more" />
        </Menu>
      )}
    </div>
  )
}

function columnMenu(tools: BoardTools, column: Column, columnIds: readonly string[], rename: () => void): MenuEntry[] {
  const at = columnIds.indexOf(column.id)
  const move = (to: number) => tools.moveColumn(column, to)
  return [
    { label: t.addCardAtTop, icon: 'plus', onSelect: () => tools.compose(column.id, null) },
    { label: t.rename, icon: 'edit', onSelect: rename },
    {
      label: column.is_done_column ? t.unmarkAsDone : t.markAsDone,
      icon: 'check',
      onSelect: () => tools.change('updateColumn', { column_id: column.id, is_done_column: !column.is_done_column }),
    },
    { label: t.moveLeft, icon: 'left', isDisabled: at <= 0, onSelect: () => move(at - 1) },
    { label: t.moveRight, icon: 'right', isDisabled: at === columnIds.length - 1, onSelect: () => move(at + 1) },
    undefined,
    t.colour,
    {
      colors: columnColors,
      chosen: column.color,
      onChoose: (color) => tools.change('updateColumn', { column_id: column.id, color }),
    },
    undefined,
    { label: t.archiveColumn, icon: 'archive', onSelect: () => void tools.removeColumn(column, 'archived') },
    {
      label: t.deleteColumn,
      icon: 'trash',
      isDanger: true,
      onSelect: () => void tools.removeColumn(column, 'deleted'),
    },
  ]
}
