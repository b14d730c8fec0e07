import type { Card, Column } from '@lockstep/client'
import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual'
import { memo, useCallback, useEffect, useMemo, useRef } from 'react'
import { Icon } from '../ui/icon.tsx'
import { useStorePart } from '../ui/store.ts'
import { useTools } from './board-tools.ts'
import { CardFace, Placeholder } from './card-face.tsx'
import { Composer } from './composer.tsx'
import { LaneHead } from './lane-head.tsx'
import { useLaneDrop, useSettling } from './lane-motion.ts'
import { type Row, rowsOf } from './lane-rows.ts'

/** Lanes up to this long are drawn whole, so that the browser's own search finds everything. */
const WHOLE = 60
const OVERSCAN = 6
const GAP_PX = 8
/** About what a card takes: what is drawn is measured. */
const LINE_PX = 20
const BARE_PX = 42
const LINE_CHARS = 34

const heightOf = (row: Row | undefined): number => {
  if (row?.kind !== 'card') return 96
  const { title, labels, assignees, description, attachments, checklists } = row.card
  const lines = Math.max(1, Math.ceil(title.length / LINE_CHARS))
  const hasFoot = assignees.length + attachments.length + checklists.length > 0 || description
  return BARE_PX + (lines - 1) * LINE_PX + (labels.length > 0 ? 24 : 0) + (hasFoot ? 32 : 0)
}

interface LaneProps {
  column: Column
  /** The cards that the filter shows. */
  cards: readonly Card[]
  is_filtered: boolean
}

/** A lane: its head, its cards, and the place for new ones. Only what is in sight is drawn. */
export const Lane = memo(function Lane({ column, cards, is_filtered }: LaneProps) {
  const tools = useTools()
  const scroller = useRef<HTMLDivElement>(null)
  const section = useRef<HTMLElement>(null)
  const dragged_id = useStorePart(tools.dragging, (now) => (now?.kind === 'card' ? now.id : undefined))
  const dragged = useStorePart(tools.dragging, (now) => (now?.from_id === column.id ? now.card : undefined))
  const over_index = useStorePart(tools.dragging, (now) =>
    now?.over?.column_id === column.id && now.kind === 'card' ? now.over.index : undefined,
  )
  const drop_side = useStorePart(tools.dragging, (now) => {
    if (now?.kind !== 'column') return ''
    if (now.id === column.id) return ' is-lifted'
    if (now.over?.column_id !== column.id) return ''
    return now.over.index === 0 ? ' is-drop-before' : ' is-drop-after'
  })
  const composing = useStorePart(tools.composing, (now) => (now?.column_id === column.id ? now : undefined))
  const rows = useMemo(
    () => rowsOf({ cards, dragged_id, over_index, composing }),
    [cards, dragged_id, over_index, composing],
  )
  const focused_id = useStorePart(tools.focus, ({ card_id }) =>
    cards.some(({ id }) => id === card_id) ? card_id : undefined,
  )
  const stop_id = focused_id ?? cards[0]?.id

  // What has the focus or is being written stays drawn, however far it is scrolled away.
  const pinned = rows.findIndex(({ key }) => key === 'composer' || key === focused_id)
  const rangeExtractor = useCallback(
    (range: Range) => {
      const inSight = defaultRangeExtractor(range)
      return pinned < 0 || inSight.includes(pinned) ? inSight : [...inSight, pinned].sort((a, b) => a - b)
    },
    [pinned],
  )
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heightOf(rows[index]),
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: rows.length <= WHOLE && !is_filtered ? WHOLE : OVERSCAN,
    gap: GAP_PX,
    paddingStart: 12,
    paddingEnd: 16,
    scrollPaddingStart: 12,
    scrollPaddingEnd: 16,
    rangeExtractor,
  })
  const rows_now = useRef(rows)
  rows_now.current = rows

  const count = useStorePart(tools.focus, (focus) => (focus.card_id === focused_id ? focus.count : 0))
  useEffect(() => {
    const index = rows_now.current.findIndex(({ key }) => key === focused_id)
    if (count > 0 && index >= 0) virtualizer.scrollToIndex(index, { align: 'auto' })
  }, [count, focused_id, virtualizer])

  useLaneDrop({ column_id: column.id, section, scroller, virtualizer, rows: rows_now })

  const list = useRef<HTMLOListElement>(null)
  useSettling(list, rows, dragged_id)
  const drawn: { row: Row; index: number; start: number }[] = virtualizer
    .getVirtualItems()
    .flatMap(({ index, start }) => rows.slice(index, index + 1).map((row) => ({ row, index, start })))
  // Under its own key, so that it is the very same element: browsers tell nobody of the end of a drag whose source was taken
  // away. Others may move or delete the card meanwhile: its element stays.
  if (dragged) drawn.push({ row: { kind: 'card', key: dragged.id, card: dragged }, index: -1, start: 0 })

  return (
    <section
      ref={section}
      className={`lane${over_index === undefined ? '' : ' is-over'}${drop_side}`}
      aria-label={`${column.title}, ${column.cards.length} ${column.cards.length === 1 ? 'card' : 'cards'}`}
      data-column-id={column.id}
    >
      <LaneHead column={column} shown={is_filtered ? cards.length : undefined} />
      <div ref={scroller} className="lane-cards">
        <ol ref={list} style={{ blockSize: virtualizer.getTotalSize() }}>
          {drawn.map(({ row, index, start }) => (
            <li
              key={row.key}
              ref={row.key === dragged_id ? undefined : virtualizer.measureElement}
              data-index={index}
              className={row.key === dragged_id ? 'is-dragged' : undefined}
              style={{ transform: `translateY(${start}px)` }}
              {...(row.kind === 'card' && {
                'aria-setsize': cards.length,
                'aria-posinset': cards.indexOf(row.card) + 1,
              })}
              aria-hidden={row.kind === 'placeholder' || row.key === dragged_id || undefined}
            >
              {row.kind === 'card' && <CardFace card={row.card} is_stop={row.card.id === stop_id} />}
              {row.kind === 'placeholder' && <Placeholder />}
              {row.kind === 'composer' && composing && <Composer {...composing} />}
            </li>
          ))}
        </ol>
        {rows.length === 0 && <p className="lane-empty">{emptyText(column, is_filtered)}</p>}
      </div>
      <button
        type="button"
        className="lane-add"
        onClick={() => tools.compose(column.id, column.cards.at(-1)?.id ?? null)}
      >
        <Icon name="plus" /> Add a card
      </button>
    </section>
  )
})

const emptyText = (column: Column, is_filtered: boolean) =>
  is_filtered && column.cards.length > 0 ? 'No card here fits the filter.' : 'No cards yet.'
