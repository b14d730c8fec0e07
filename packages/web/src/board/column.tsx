import type { Card, Column } from '@lockstep/client'
import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual'
import { memo, useCallback, useEffect, useInsertionEffect, useLayoutEffect, useMemo, useRef } from 'react'
import { useReadOnly, useTools } from '../board-state/board-tools.ts'
import { Icon } from '../ui/icon.tsx'
import { useStorePart } from '../ui/store.ts'
import { CardFace, Placeholder } from './card-face.tsx'
import { ColumnHead } from './column-head.tsx'
import { useColumnDrop, useReorderTransition } from './column-motion.ts'
import { type ColumnRow, rowsOf } from './column-rows.ts'
import { Composer } from './composer.tsx'
import { t } from './messages.ts'
import { type PlacedRow, ScrollSnapshot, useReadingPosition } from './reading-position.tsx'

/** Columns up to this length are not virtualized, so that the browser's search finds all cards. */
const VIRTUALIZE_ABOVE = 60
const OVERSCAN = 6
const GAP_PX = 8
/** Height estimates. Rendered cards are measured. */
const LINE_PX = 20
const CARD_PX = 62
const LINE_CHARS = 34

const heightOf = (row: ColumnRow | undefined): number => {
  if (row?.kind !== 'card') return 96
  const { title, labels, assignees } = row.card
  const lines = Math.max(1, Math.ceil(title.length / LINE_CHARS))
  return CARD_PX + (lines - 1) * LINE_PX + (labels.length > 0 ? 26 : 0) + (assignees.length > 0 ? 6 : 0)
}

interface ColumnViewProps {
  column: Column
  /** The visible cards. */
  cards: readonly Card[]
  isFiltered: boolean
  /** The ids of all columns. */
  columnOrder: string
}

/** A column with its head, cards and add button. Long columns are virtualized. */
export const ColumnView = memo(function ColumnView({ column, cards, isFiltered, columnOrder }: ColumnViewProps) {
  const tools = useTools()
  const isReadOnly = useReadOnly()
  const scroller = useRef<HTMLDivElement>(null)
  const section = useRef<HTMLElement>(null)
  const draggedId = useStorePart(tools.dragging, (now) => (now?.kind === 'card' ? now.id : undefined))
  const dragged = useStorePart(tools.dragging, (now) => (now?.fromId === column.id ? now.card : undefined))
  const overIndex = useStorePart(tools.dragging, (now) =>
    now?.over?.column_id === column.id && now.kind === 'card' ? now.over.index : undefined,
  )
  const dropClass = useStorePart(tools.dragging, (now) => {
    if (now?.kind !== 'column') return ''
    if (now.id === column.id) return ' is-lifted'
    if (now.over?.column_id !== column.id) return ''
    return now.over.index === 0 ? ' is-drop-before' : ' is-drop-after'
  })
  const composing = useStorePart(tools.composing, (now) =>
    now?.column_id === column.id && !isReadOnly ? now : undefined,
  )
  const rows = useMemo(
    () => rowsOf({ cards, draggedId, overIndex, composing }),
    [cards, draggedId, overIndex, composing],
  )
  const focusedId = useStorePart(tools.focus, ({ card_id }) =>
    cards.some(({ id }) => id === card_id) ? card_id : undefined,
  )
  const tabStopId = focusedId ?? cards[0]?.id

  // The focused card and the composer stay rendered when they are scrolled out of view.
  const pinned = rows.findIndex(({ key }) => key === 'composer' || key === focusedId)
  const rangeExtractor = useCallback(
    (range: Range) => {
      const visible = defaultRangeExtractor(range)
      return pinned < 0 || visible.includes(pinned) ? visible : [...visible, pinned].sort((a, b) => a - b)
    },
    [pinned],
  )
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heightOf(rows[index]),
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: rows.length <= VIRTUALIZE_ABOVE && !isFiltered ? VIRTUALIZE_ABOVE : OVERSCAN,
    gap: GAP_PX,
    paddingStart: 10,
    paddingEnd: 8,
    scrollPaddingStart: 12,
    scrollPaddingEnd: 16,
    rangeExtractor,
  })
  // `useReadingPosition` does this, for every row that changes its height.
  useLayoutEffect(() => {
    virtualizer.shouldAdjustScrollPositionOnItemSizeChange = () => false
  }, [virtualizer])
  const latestRows = useRef(rows)
  useInsertionEffect(() => {
    latestRows.current = rows
  }, [rows])

  const count = useStorePart(tools.focus, (focus) => (focus.card_id === focusedId ? focus.count : 0))
  useEffect(() => {
    const index = latestRows.current.findIndex(({ key }) => key === focusedId)
    if (count > 0 && index >= 0) virtualizer.scrollToIndex(index, { align: 'auto' })
  }, [count, focusedId, virtualizer])

  useColumnDrop({ tools, column_id: column.id, section, scroller, virtualizer, rows: latestRows })

  const list = useRef<HTMLOListElement>(null)
  const placed: PlacedRow[] = virtualizer
    .getVirtualItems()
    .flatMap(({ index, start, end }) => rows.slice(index, index + 1).map((row) => ({ row, index, start, end })))
  // Keep the dragged element mounted under its own key, even if others move or delete the card: browsers send no dragend event
  // for a removed element.
  const rendered = dragged
    ? [...placed, { row: { kind: 'card', key: dragged.id, card: dragged } as const, index: -1, start: 0 }]
    : placed

  const top = useRef(0)
  const shiftedRows = useRef<readonly ColumnRow[]>(undefined)
  const startAt = (index: number) => virtualizer.measurementsCache[index]?.start
  const drag = `${draggedId} ${overIndex}`
  useReadingPosition({ scroller, top, rows, placed, startAt, drag, columnOrder }, () => {
    shiftedRows.current = rows
  })
  useReorderTransition(list, rows, draggedId, shiftedRows)

  return (
    <section
      ref={section}
      className={`column${overIndex === undefined ? '' : ' is-over'}${column.is_done_column ? ' is-done' : ''}${dropClass}`}
      aria-label={t.columnWithCards({ title: column.title, count: column.cards.length })}
      data-column-id={column.id}
    >
      <div className="column-surface">
        <ColumnHead column={column} shown={isFiltered ? cards.length : undefined} columnOrder={columnOrder} />
        <ScrollSnapshot scroller={scroller} top={top} />
        <div ref={scroller} className="column-cards">
          <ol ref={list} style={{ blockSize: virtualizer.getTotalSize() }}>
            {rendered.map(({ row, index, start }) => (
              <li
                key={row.key}
                ref={row.key === draggedId ? undefined : virtualizer.measureElement}
                data-index={index}
                className={row.key === draggedId ? 'is-dragged' : undefined}
                style={{ transform: `translateY(${start}px)` }}
                {...(row.kind === 'card' && {
                  'aria-setsize': cards.length,
                  'aria-posinset': cards.indexOf(row.card) + 1,
                })}
                aria-hidden={row.kind === 'placeholder' || row.key === draggedId || undefined}
              >
                {row.kind === 'card' && (
                  <CardFace card={row.card} isDone={column.is_done_column} isTabStop={row.card.id === tabStopId} />
                )}
                {row.kind === 'placeholder' && <Placeholder />}
                {row.kind === 'composer' && composing && <Composer position={composing} columnTitle={column.title} />}
              </li>
            ))}
          </ol>
          {rows.length === 0 && <p className="column-empty">{emptyText(column, isFiltered)}</p>}
        </div>
        {!isReadOnly && rows.at(-1)?.kind !== 'composer' && (
          <button
            type="button"
            className="column-add"
            onClick={() => tools.compose(column.id, column.cards.at(-1)?.id ?? null)}
          >
            <Icon name="plus" /> {t.addCard}
          </button>
        )}
      </div>
    </section>
  )
})

const emptyText = (column: Column, isFiltered: boolean) =>
  isFiltered && column.cards.length > 0 ? t.noCardsMatch : t.noCardsYet
