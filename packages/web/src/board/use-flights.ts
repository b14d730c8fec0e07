import type { FullBoard } from '@lockstep/client'
import { useBoardEvents } from '@lockstep/client/react'
import { useLayoutEffect, useRef } from 'react'
import { boardApi } from '../board-state/board-api.ts'
import type { BoardTools } from '../board-state/board-tools.ts'

const DURATION_MS = 320
/** More at once would be unreadable and slow. Further cards just appear. */
const MAX_FLIGHTS = 6
/** A move that is not rendered by then is not animated. */
const WAIT_MS = 1_000

interface Departure {
  from: DOMRect
  /** A copy of the card as it was, because the card itself is rendered again in the other column. */
  copy: HTMLElement
  column_id: string
  at: number
}

const isCalm = matchMedia('(prefers-reduced-motion: reduce)')
const cardElement = (card_id: string) => document.querySelector<HTMLElement>(`[data-card-id="${CSS.escape(card_id)}"]`)

/** Animates a card that someone else moves to another column from its old place to its new one. */
export function useFlights(tools: BoardTools, view: FullBoard | undefined) {
  const departures = useRef(new Map<string, Departure>())
  useBoardEvents(boardApi, tools.board_id, (event, { isOwn }) => {
    if (isOwn || event.type !== 'card.moved' || isCalm.matches || document.hidden) return
    const { id, column_id } = event.data
    const element = cardElement(id)
    // The event is not applied yet: the card is still in its old column.
    if (!element || tools.find(id)?.column.id === column_id) return
    const isBusy = departures.current.size + document.querySelectorAll('.flight').length >= MAX_FLIGHTS
    if (isBusy || tools.dragging.get()?.id === id) return
    const copy = element.cloneNode(true) as HTMLElement
    departures.current.set(id, { from: element.getBoundingClientRect(), copy, column_id, at: performance.now() })
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new view may contain the moves
  useLayoutEffect(() => {
    for (const [id, departure] of departures.current) {
      const hasArrived = tools.find(id)?.column.id === departure.column_id
      if (hasArrived) fly(id, departure)
      if (hasArrived || performance.now() - departure.at > WAIT_MS) departures.current.delete(id)
    }
  }, [view, tools])
}

function fly(card_id: string, { from, copy }: Departure) {
  const card = cardElement(card_id)
  // A long column renders only the cards in view.
  if (!card) return
  const to = card.getBoundingClientRect()
  const flight = document.createElement('div')
  flight.className = 'flight'
  flight.inert = true
  Object.assign(flight.style, { left: `${to.left}px`, top: `${to.top}px`, width: `${to.width}px` })
  // The marked card has the colour and the name of the user who moved it.
  copy.style.setProperty('--c', card.style.getPropertyValue('--c'))
  copy.classList.add('is-marked')
  const mark = card.querySelector('.card-mark')
  copy.querySelector('.card-mark')?.remove()
  if (mark) copy.prepend(mark.cloneNode(true))
  flight.append(copy)
  document.body.append(flight)
  const path = [{ transform: `translate(${from.left - to.left}px, ${from.top - to.top}px)` }, { transform: 'none' }]
  const timing = { duration: DURATION_MS, easing: 'cubic-bezier(0.2, 0.8, 0.2, 1)' }
  card.animate([{ opacity: 0 }, { opacity: 0 }], DURATION_MS)
  flight.animate(path, timing).finished.then(
    () => flight.remove(),
    () => flight.remove(),
  )
}
