import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine'
import { dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import { autoScrollForElements } from '@atlaskit/pragmatic-drag-and-drop-auto-scroll/element'
import type { Virtualizer } from '@tanstack/react-virtual'
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import type { BoardTools } from '../board-state/board-tools.ts'
import type { ColumnRow } from './column-rows.ts'

interface ColumnDropOptions {
  tools: BoardTools
  column_id: string
  section: RefObject<HTMLElement | null>
  scroller: RefObject<HTMLElement | null>
  virtualizer: Virtualizer<HTMLDivElement, Element>
  rows: RefObject<readonly ColumnRow[]>
}

/** Makes a column a drop target for cards, with auto-scroll at its edges. */
export function useColumnDrop({ tools, column_id, section, scroller, virtualizer, rows }: ColumnDropOptions) {
  useEffect(() => {
    const [element, list] = [section.current, scroller.current]
    if (!element || !list) return
    /** The drop index at a vertical position, without counting the dragged card. */
    const indexAt = (clientY: number) => {
      const y = clientY - list.getBoundingClientRect().top + list.scrollTop
      let cards = 0
      for (const { index, start, size } of virtualizer.measurementsCache) {
        if (rows.current[index]?.kind !== 'card') continue
        if (y < start + size / 2) break
        cards++
      }
      return cards
    }
    const isCard = ({ source }: { source: { data: Record<string, unknown> } }) => source.data['kind'] === 'card'
    // Touches find their drop position here.
    tools.dropIndexes.set(column_id, indexAt)
    return combine(
      () => tools.dropIndexes.delete(column_id),
      dropTargetForElements({
        element,
        canDrop: isCard,
        getData: ({ input }) => ({ column_id, index: indexAt(input.clientY) }),
      }),
      autoScrollForElements({ element: list, canScroll: isCard }),
    )
  }, [tools, column_id, section, scroller, virtualizer, rows])
}

const TRANSITION_MS = 200
/** Reorders that follow each other faster than this are not animated. */
const MIN_INTERVAL_MS = 1_000

/**
 * Animates cards to their new positions when the order changes, except right after a drop, and except in `shiftedRows`, where the
 * cards in view stay where they are. When the order keeps changing, cards
 * are placed at once: every animated card is a compositor layer, which is painted when the animation starts and again when it
 * ends, and the next change would cut the animation short. The placeholder of a drag always makes room with an animation.
 */
export function useReorderTransition(
  list: RefObject<HTMLElement | null>,
  rows: readonly ColumnRow[],
  draggedId: string | undefined,
  shiftedRows: RefObject<readonly ColumnRow[] | undefined>,
) {
  const last = useRef({ rows, draggedId, reorderedAt: Number.NEGATIVE_INFINITY })
  useLayoutEffect(() => {
    const before = last.current
    const isSame = rows.length === before.rows.length && rows.every(({ key }, i) => key === before.rows[i]?.key)
    const now = performance.now()
    last.current = { rows, draggedId, reorderedAt: isSame ? before.reorderedAt : now }
    const element = list.current
    if (!element || isSame || before.draggedId !== draggedId || shiftedRows.current === rows) return
    if (draggedId === undefined && now - before.reorderedAt < MIN_INTERVAL_MS) return
    element.classList.add('is-settling')
    const settled = () => element.classList.remove('is-settling')
    const timer = setTimeout(settled, TRANSITION_MS)
    return () => {
      clearTimeout(timer)
      settled()
    }
  }, [list, rows, draggedId, shiftedRows])
}
