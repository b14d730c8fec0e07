import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine'
import { dropTargetForElements, monitorForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import { autoScrollForElements } from '@atlaskit/pragmatic-drag-and-drop-auto-scroll/element'
import { useEffect } from 'react'
import { announce } from '../ui/announcer.tsx'
import { showToast } from '../ui/toasts.tsx'
import { placeAt } from './board-model.ts'
import type { BoardTools } from './board-tools.ts'

/** Follows a drag over the board, and does what it means when it ends. */
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
            from_id: found?.column.id,
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
          if (!over) announce('Nothing was moved.')
          else if (kind === 'card') dropCard(tools, id, over)
          else dropColumn(tools, id, over)
        },
      }),
      // The whole strip takes columns: also the room beside the last one. Each lane is a drop target for cards.
      dropTargetForElements({
        element,
        canDrop: ({ source }) => source.data['kind'] === 'column',
        getData: ({ input, source }) => columnPlace(element, String(source.data['id']), input.clientX),
      }),
      autoScrollForElements({ element }),
    )
  }, [tools, strip])
}

function dropCard(tools: BoardTools, id: string, { column_id, index }: { column_id: string; index: number }) {
  const column = tools.view.columns.find((each) => each.id === column_id)
  if (!tools.find(id)) return void showToast('The card was deleted while you dragged it.')
  if (!column) return void showToast('The lane was deleted while you dragged the card.')
  const others = tools.shownIn(column).filter((card) => card.id !== id)
  tools.move(id, placeAt(column, others, index, id))
}

/** Beside which other column the pointer would drop a column; the column itself where it stands already. */
function columnPlace(strip: HTMLElement, id: string, x: number) {
  const lanes = [...strip.querySelectorAll<HTMLElement>('[data-column-id]')]
  const ids = lanes.map((lane) => lane.dataset['columnId'] ?? '')
  const isRightToLeft = getComputedStyle(strip).direction === 'rtl'
  const isPassed = (lane: HTMLElement) => {
    const { left, width } = lane.getBoundingClientRect()
    return x > left + width / 2 !== isRightToLeft
  }
  const to = lanes.filter((lane, i) => ids[i] !== id && isPassed(lane)).length
  if (to === ids.indexOf(id)) return { column_id: id, index: 0 }
  const others = ids.filter((each) => each !== id)
  return to < others.length ? { column_id: others[to], index: 0 } : { column_id: others.at(-1), index: 1 }
}

function dropColumn(tools: BoardTools, id: string, { column_id, index }: { column_id: string; index: number }) {
  const { columns } = tools.view
  const column = columns.find((each) => each.id === id)
  const at = columns.filter((each) => each.id !== id).findIndex((each) => each.id === column_id)
  if (!column) showToast('The column was deleted while you dragged it.')
  else if (at < 0) announce('Nothing was moved.')
  else tools.moveColumn(column, at + index)
}
