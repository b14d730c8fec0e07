import type { Card, Column, FullBoard } from '@lockstep/client'
import { useRef } from 'react'
import { steerBoard } from './board-keys.ts'
import { useTools } from './board-tools.ts'
import { useFocusKept, useLaneFocusKept } from './kept-focus.ts'
import { Lane } from './lane.tsx'
import { NewLane } from './new-lane.tsx'
import { useDrags } from './use-drags.ts'

interface LanesProps {
  view: FullBoard
  /** The cards of each lane that the filter shows. */
  shownIn: (column: Column) => readonly Card[]
  is_filtered: boolean
}

/** All lanes side by side, with the keys and the drags over them. */
export function Lanes({ view, shownIn, is_filtered }: LanesProps) {
  const tools = useTools()
  const strip = useRef<HTMLElement>(null)
  useDrags(tools, strip)
  useFocusKept(tools, view, shownIn)
  const watchLanes = useLaneFocusKept(view)
  return (
    <main
      ref={strip}
      id="main"
      className="board"
      aria-label={`Board ${view.title}`}
      onKeyDown={(event) => steerBoard(event, tools)}
      {...watchLanes}
      onContextMenu={(event) => {
        // The key that opened the card's menu would open the browser's over it.
        if (event.target instanceof Element && event.target.closest('[role=menu]')) event.preventDefault()
      }}
    >
      <p id="board-hint" hidden>
        Shift with an arrow key moves the card, M opens the move dialog.
      </p>
      {view.columns.map((column) => (
        <Lane key={column.id} column={column} cards={shownIn(column)} is_filtered={is_filtered} />
      ))}
      <NewLane has_lanes={view.columns.length > 0} />
    </main>
  )
}
