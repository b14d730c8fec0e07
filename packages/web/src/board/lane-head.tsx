import { draggable } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import { setCustomNativeDragPreview } from '@atlaskit/pragmatic-drag-and-drop/element/set-custom-native-drag-preview'
import type { Column } from '@lockstep/client'
import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { Icon } from '../ui/icon.tsx'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import { tinted } from '../ui/people.tsx'
import { type BoardTools, useTools } from './board-tools.ts'
import { dragPreview } from './drag-preview.ts'
import { NameField } from './name-field.tsx'

export const laneColors = [
  ['Stone', '#8a8171'],
  ['Amber', '#b45309'],
  ['Violet', '#6d4bb0'],
  ['Green', '#2f7a4a'],
  ['Blue', '#2563a8'],
  ['Rose', '#b4325f'],
] as const

/** Title, number and menu of a lane. It is dragged by this head. */
export function LaneHead({ column, shown }: { column: Column; shown: number | undefined }) {
  const tools = useTools()
  const head = useRef<HTMLDivElement>(null)
  const [isRenamed, setRenamed] = useState(false)
  useEffect(() => {
    const element = head.current
    const lane = element?.closest('section')
    if (!element || !lane) return
    return draggable({
      element,
      // A name that is being changed is text to be selected.
      canDrag: () => !element.querySelector('input'),
      getInitialData: () => ({ kind: 'column', id: column.id, height: 0 }),
      onGenerateDragPreview: ({ nativeSetDragImage, location }) =>
        setCustomNativeDragPreview({ nativeSetDragImage, ...dragPreview(lane, location.current.input) }),
    })
  }, [column.id])
  const count = column.cards.length
  return (
    <div ref={head} className="lane-head" style={tinted(column.color)}>
      <span className="lane-tab" aria-hidden="true" />
      {isRenamed ? (
        <NameField
          label="Title of the lane"
          className="input lane-title-field"
          value={column.title}
          onSave={(title) => tools.change('updateColumn', { column_id: column.id, title })}
          onDone={() => setRenamed(false)}
          onKey={() => {
            flushSync(() => setRenamed(false))
            head.current?.querySelector('button')?.focus()
          }}
        />
      ) : (
        <h2 title={column.title}>{column.title}</h2>
      )}
      <span className="lane-count" aria-hidden="true">
        {shown === undefined ? count : `${shown}/${count}`}
      </span>
      {column.is_done_column && (
        <span className="lane-done" title="What is here is done">
          <Icon name="check" size={14} />
          <span className="unseen">What is here is done</span>
        </span>
      )}
      <span className="spacer" />
      <Menu label={`Actions for ${column.title}`} items={laneMenu(tools, column, () => setRenamed(true))}>
        <Icon name="more" />
      </Menu>
    </div>
  )
}

function laneMenu(tools: BoardTools, column: Column, rename: () => void): (MenuItem | undefined)[] {
  const { columns } = tools.view
  const at = columns.findIndex(({ id }) => id === column.id)
  const move = (to: number) => tools.moveColumn(column, to)
  const next = laneColors[(laneColors.findIndex(([, color]) => color === column.color) + 1) % laneColors.length]
  return [
    { label: 'Add a card on top', icon: 'plus', onSelect: () => tools.compose(column.id, null) },
    { label: 'Rename', icon: 'edit', onSelect: rename },
    {
      label: `Recolour: ${next?.[0]}`,
      icon: 'tag',
      onSelect: () => tools.change('updateColumn', { column_id: column.id, color: next?.[1] ?? '' }),
    },
    {
      label: column.is_done_column ? 'No longer the lane for what is done' : 'What is here is done',
      icon: 'check',
      onSelect: () => tools.change('updateColumn', { column_id: column.id, is_done_column: !column.is_done_column }),
    },
    { label: 'Move left', icon: 'left', is_disabled: at <= 0, onSelect: () => move(at - 1) },
    { label: 'Move right', icon: 'right', is_disabled: at === columns.length - 1, onSelect: () => move(at + 1) },
    undefined,
    { label: 'Delete the lane', icon: 'trash', is_danger: true, onSelect: () => removeLane(tools, column) },
  ]
}

function removeLane(tools: BoardTools, column: Column) {
  const files = column.cards.reduce((sum, card) => sum + card.attachments.length, 0)
  const cards = column.cards.length
  const lost = files > 0 ? ` Its ${files} files cannot be brought back.` : ''
  if (cards > 0 && !confirm(`Delete “${column.title}” with its ${cards} cards?${lost}`)) return
  tools.offerUndo(`Deleted column “${column.title}”`, tools.change('deleteColumn', { column_id: column.id }))
}
