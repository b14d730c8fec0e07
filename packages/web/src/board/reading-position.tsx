import { Component, type RefObject, useLayoutEffect, useRef } from 'react'
import type { ColumnRow } from './column-rows.ts'

/** A rendered row, with its place in the list. */
export interface PlacedRow {
  row: ColumnRow
  index: number
  start: number
  end: number
}
interface ScrollSnapshotProps {
  scroller: RefObject<HTMLElement | null>
  /** Where the position is stored. */
  top: RefObject<number>
}

/**
 * Stores the scroll position of an element before each commit. A commit can change it: a column that React moves in the DOM starts
 * at its top again, and a list that became shorter is scrolled back. Only class components are called before a commit.
 */
export class ScrollSnapshot extends Component<ScrollSnapshotProps> {
  override getSnapshotBeforeUpdate() {
    const { scroller, top } = this.props
    top.current = scroller.current?.scrollTop ?? 0
    return null
  }
  /** React requires it beside `getSnapshotBeforeUpdate`. */
  override componentDidUpdate() {}
  override render() {
    return null
  }
}

interface ReadingPositionOptions {
  scroller: RefObject<HTMLElement | null>
  /** From `ScrollSnapshot`. */
  top: RefObject<number>
  rows: readonly ColumnRow[]
  /** The rendered rows. */
  placed: readonly PlacedRow[]
  /** Where a row starts that is not rendered. */
  startAt: (index: number) => number | undefined
  /** Changes when the user lifts a card, moves it over another place, or drops it. */
  drag: string
  /** The order of the columns. */
  columnOrder: string
}

/**
 * Keeps the first visible card of a column in its place when something above it changes, and the column where it was scrolled to
 * when columns are moved. A column that shows its top, and the user's own drag, are left alone. The browser's own scroll anchoring
 * does not apply to rows with absolute positions. Calls `onShift` when it scrolled.
 */
export function useReadingPosition(options: ReadingPositionOptions, onShift: () => void) {
  const last = useRef(options)
  useLayoutEffect(() => {
    const before = last.current
    last.current = options
    const { scroller, top, drag, columnOrder } = options
    const list = scroller.current
    if (!list) return
    const shift = top.current > 0 && drag === before.drag ? shiftOf(before.placed, options) : 0
    if (shift === 0 && columnOrder === before.columnOrder) return
    list.scrollTop = top.current + shift
    if (shift !== 0) onShift()
  })
}

/** How far the first visible card has moved because of changes above it. */
function shiftOf(before: readonly PlacedRow[], { top, rows, placed, startAt }: ReadingPositionOptions): number {
  let shiftOfMoved = 0
  for (const { row, start, end } of before) {
    if (end <= top.current) continue
    const index = rows.findIndex(({ key }) => key === row.key)
    const now = rows[index]
    const startNow = placed.find((each) => each.index === index)?.start ?? startAt(index)
    if (row.kind !== 'card' || now?.kind !== 'card' || startNow === undefined) continue
    // A card that was itself moved has another rank, unless the server has given all of them new ranks.
    if (now.card.rank === row.card.rank) return startNow - start
    shiftOfMoved ||= startNow - start
  }
  return shiftOfMoved
}
