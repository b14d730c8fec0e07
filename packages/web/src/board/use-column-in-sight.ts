import { type RefObject, useEffect } from 'react'
import type { BoardTools } from '../board-state/board-tools.ts'

/** Narrow pages show one column at a time; as in `board.css`. */
const isNarrow = matchMedia('(max-width: 640px)')

/** Follows which column a phone shows. */
export function useColumnInSight(tools: BoardTools, strip: RefObject<HTMLElement | null>, columnOrder: string) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: other columns, or another order
  useEffect(() => {
    const element = strip.current
    if (!element) return
    const controller = new AbortController()
    const options = { signal: controller.signal, passive: true }
    const update = () => tools.columnInSight.set(isNarrow.matches ? columnInMiddle(element) : undefined)
    element.addEventListener('scroll', update, options)
    addEventListener('resize', update, options)
    update()
    return () => controller.abort()
  }, [tools, strip, columnOrder])
}

function columnInMiddle(strip: HTMLElement): string | undefined {
  const middleOf = (element: HTMLElement) => {
    const { left, width } = element.getBoundingClientRect()
    return left + width / 2
  }
  const middle = middleOf(strip)
  const distances = [...strip.querySelectorAll<HTMLElement>('[data-column-id]')].map((element) => ({
    id: element.dataset['columnId'],
    distance: Math.abs(middleOf(element) - middle),
  }))
  return distances.sort((one, other) => one.distance - other.distance)[0]?.id
}
