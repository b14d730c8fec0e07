import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine'
import { dropTargetForElements, monitorForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import { autoScrollForElements } from '@atlaskit/pragmatic-drag-and-drop-auto-scroll/element'
import { useEffect } from 'react'
import { placementAt } from '../board-state/board-model.ts'
import type { BoardTools } from '../board-state/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { showToast } from '../ui/toasts.ts'
import { t } from './messages.ts'

/** Tracks a drag over the board and moves the card or column on drop. */
export function useDrags(tools: BoardTools, strip: { current: HTMLElement | null }) {
  useEffect(() => {
    const element = strip.current
    if (!element) return
    const where = (targets: { data: Record<string | symbol, unknown> }[]) => {
      const data = targets[0]?.data as { column_id?: string; index?: number } | undefined
      return data?.column_id === undefined ? undefined : { column_id: data.column_id, index: data.index ?? 0 }
    }
    const follow = (targets: Parameters<typeof where>[0]) =>
      tools.dragging.update((now) => {
        const over = where(targets)
        const isSame = now?.over?.column_id === over?.column_id && now?.over?.index === over?.index
        return now && !isSame ? { ...now, over } : now
      })
    return combine(
      monitorForElements({
        onDragStart: ({ source: { data }, location }) => {
          const id = String(data['id'])
          const found = tools.find(id)
          tools.dragging.set({
            kind: data['kind'] as 'card' | 'column',
            id,
            height: Number(data['height']),
            card: found?.card,
            fromId: found?.column.id,
            over: where(location.current.dropTargets),
          })
        },
        onDrag: ({ location }) => follow(location.current.dropTargets),
        onDropTargetChange: ({ location }) => follow(location.current.dropTargets),
        onDrop: ({ location }) => {
          const { kind, id } = tools.dragging.get() ?? {}
          const over = where(location.current.dropTargets)
          tools.dragging.set(undefined)
          if (!id) return
          if (!over) announce(t.nothingMoved)
          else if (kind === 'card') dropCard(tools, id, over)
          else dropColumn(tools, id, over)
        },
      }),
      // The whole strip is a drop target for columns, including the space after the last one. Each column is one for cards.
      dropTargetForElements({
        element,
        canDrop: ({ source }) => source.data['kind'] === 'column',
        getData: ({ input, source }) => columnDropPosition(element, String(source.data['id']), input.clientX),
      }),
      autoScrollForElements({ element }),
    )
  }, [tools, strip])
}

export function dropCard(tools: BoardTools, id: string, { column_id, index }: { column_id: string; index: number }) {
  const column = tools.view.columns.find((each) => each.id === column_id)
  if (!tools.find(id)) return void showToast(t.draggedCardDeleted)
  if (!column) return void showToast(t.targetColumnDeleted)
  const others = tools.shownIn(column).filter((card) => card.id !== id)
  tools.move(id, placementAt(column, others, index, id))
}

/** The drop position of a column: beside which other column, or the column itself if it would not move. */
function columnDropPosition(strip: HTMLElement, id: string, x: number) {
  const elements = [...strip.querySelectorAll<HTMLElement>('[data-column-id]')]
  const ids = elements.map((element) => element.dataset['columnId'] ?? '')
  const isRightToLeft = getComputedStyle(strip).direction === 'rtl'
  const isPassed = (element: HTMLElement) => {
    const { left, width } = element.getBoundingClientRect()
    return x > left + width / 2 !== isRightToLeft
  }
  const to = elements.filter((element, i) => ids[i] !== id && isPassed(element)).length
  if (to === ids.indexOf(id)) return { column_id: id, index: 0 }
  const others = ids.filter((each) => each !== id)
  return to < others.length ? { column_id: others[to], index: 0 } : { column_id: others.at(-1), index: 1 }
}

function dropColumn(tools: BoardTools, id: string, { column_id, index }: { column_id: string; index: number }) {
  const { columns } = tools.view
  const column = columns.find((each) => each.id === id)
  const at = columns.filter((each) => each.id !== id).findIndex((each) => each.id === column_id)
  if (!column) showToast(t.draggedColumnDeleted)
  else if (at < 0) announce(t.nothingMoved)
  else tools.moveColumn(column, at + index)
}
