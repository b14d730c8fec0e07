import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine'
import { dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import { autoScrollForElements } from '@atlaskit/pragmatic-drag-and-drop-auto-scroll/element'
import type { Virtualizer } from '@tanstack/react-virtual'
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import type { Row } from './lane-rows.ts'

interface LaneDrop {
  column_id: string
  section: RefObject<HTMLElement | null>
  scroller: RefObject<HTMLElement | null>
  virtualizer: Virtualizer<HTMLDivElement, Element>
  rows: RefObject<readonly Row[]>
}

/** Lets cards be dropped on a lane, between the cards where the pointer is, and scrolls it at its edges. */
export function useLaneDrop({ column_id, section, scroller, virtualizer, rows }: LaneDrop) {
  useEffect(() => {
    const [element, list] = [section.current, scroller.current]
    if (!element || !list) return
    /** The card before which a point lies, counted without the one that is dragged. */
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
    return combine(
      dropTargetForElements({
        element,
        canDrop: isCard,
        getData: ({ input }) => ({ column_id, index: indexAt(input.clientY) }),
      }),
      autoScrollForElements({ element: list, canScroll: isCard }),
    )
  }, [column_id, section, scroller, virtualizer, rows])
}

const SETTLE_MS = 200

/** Lets the cards glide to their new places when their order changes; what was just dropped lies where it was dropped. */
export function useSettling(list: RefObject<HTMLElement | null>, rows: readonly Row[], dragged_id: string | undefined) {
  const last = useRef({ rows, dragged_id })
  useLayoutEffect(() => {
    const before = last.current
    last.current = { rows, dragged_id }
    const isSame = rows.length === before.rows.length && rows.every(({ key }, i) => key === before.rows[i]?.key)
    const element = list.current
    if (!element || isSame || before.dragged_id !== dragged_id) return
    element.classList.add('is-settling')
    const settled = () => element.classList.remove('is-settling')
    const timer = setTimeout(settled, SETTLE_MS)
    return () => {
      clearTimeout(timer)
      settled()
    }
  }, [list, rows, dragged_id])
}
