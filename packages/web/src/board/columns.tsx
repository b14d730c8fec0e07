import type { Card, Column, FullBoard } from '@lockstep/client'
import { useRef } from 'react'
import { useReadOnly, useTools } from '../board-state/board-tools.ts'
import { handleCardKeys } from './card-focus-keys.ts'
import { ColumnView } from './column.tsx'
import { useCardFocusFallback, useColumnFocusFallback } from './focus-fallback.ts'
import { t } from './messages.ts'
import { NewColumn } from './new-column.tsx'
import { useTouchDrag } from './touch-drag.ts'
import { useColumnInSight } from './use-column-in-sight.ts'
import { useDrags } from './use-drags.ts'

interface ColumnsProps {
  view: FullBoard
  /** The visible cards of a column. */
  shownIn: (column: Column) => readonly Card[]
  isFiltered: boolean
}

/** All columns, with keyboard shortcuts and drag and drop. */
export function Columns({ view, shownIn, isFiltered }: ColumnsProps) {
  const tools = useTools()
  const isReadOnly = useReadOnly()
  const strip = useRef<HTMLElement>(null)
  const columnOrder = view.columns.map(({ id }) => id).join()
  useDrags(tools, strip)
  useTouchDrag(tools, strip)
  useColumnInSight(tools, strip, columnOrder)
  useCardFocusFallback(tools, view, shownIn)
  const trackFocus = useColumnFocusFallback(view)
  return (
    <main
      ref={strip}
      id="main"
      className="board"
      aria-label={t.boardLabel({ title: view.title })}
      onKeyDown={(event) => handleCardKeys(event, tools)}
      {...trackFocus}
    >
      <p id="board-hint" hidden>
        {isReadOnly ? t.archivedBoardHint : t.boardHint}
      </p>
      {view.columns.map((column) => (
        <ColumnView
          key={column.id}
          column={column}
          cards={shownIn(column)}
          isFiltered={isFiltered}
          columnOrder={columnOrder}
        />
      ))}
      {!isReadOnly && <NewColumn hasColumns={view.columns.length > 0} />}
      {isReadOnly && view.columns.length === 0 && <p className="board-empty">{t.noColumns}</p>}
    </main>
  )
}
