import type { FullBoard } from '@lockstep/client'
import { useBoardEvents } from '@lockstep/client/react'
import { useLayoutEffect, useRef } from 'react'
import { boardApi } from '../board-state/board-api.ts'
import type { BoardTools } from '../board-state/board-tools.ts'

const DURATION_MS = 320
/** More at once would be unreadable and slow. Further cards just appear. */
const MAX_ANIMATIONS = 6
/** A move that is not rendered by then is not animated. */
const WAIT_MS = 1_000

interface PendingMove {
  from: DOMRect
  /** A copy of the card as it was, because the card itself is rendered again in the other column. */
  copy: HTMLElement
  column_id: string
  at: number
}

const isCalm = matchMedia('(prefers-reduced-motion: reduce)')
const cardElement = (card_id: string) => document.querySelector<HTMLElement>(`[data-card-id="${CSS.escape(card_id)}"]`)

/** Animates a card that someone else moves to another column from its old place to its new one. */
export function useMoveAnimations(tools: BoardTools, view: FullBoard | undefined) {
  const pendingMoves = useRef(new Map<string, PendingMove>())
  useBoardEvents(boardApi, tools.board_id, (event, { isOwn }) => {
    if (isOwn || event.type !== 'card.moved' || isCalm.matches || document.hidden) return
    const { id, column_id } = event.data
    const element = cardElement(id)
    // The event is not applied yet: the card is still in its old column.
    if (!element || tools.find(id)?.column.id === column_id) return
    const isBusy = pendingMoves.current.size + document.querySelectorAll('.moving-card').length >= MAX_ANIMATIONS
    if (isBusy || tools.dragging.get()?.id === id) return
    const copy = element.cloneNode(true) as HTMLElement
    pendingMoves.current.set(id, { from: element.getBoundingClientRect(), copy, column_id, at: performance.now() })
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new view may contain the moves
  useLayoutEffect(() => {
    for (const [id, move] of pendingMoves.current) {
      const hasArrived = tools.find(id)?.column.id === move.column_id
      if (hasArrived) animateMove(id, move)
      if (hasArrived || performance.now() - move.at > WAIT_MS) pendingMoves.current.delete(id)
    }
  }, [view, tools])
}

function animateMove(card_id: string, { from, copy }: PendingMove) {
  const card = cardElement(card_id)
  // A long column renders only the cards in view.
  if (!card) return
  const to = card.getBoundingClientRect()
  const animated = document.createElement('div')
  animated.className = 'moving-card'
  animated.inert = true
  Object.assign(animated.style, { left: `${to.left}px`, top: `${to.top}px`, width: `${to.width}px` })
  // The marked card has the colour and the name of the user who moved it.
  copy.style.setProperty('--c', card.style.getPropertyValue('--c'))
  copy.classList.add('is-marked')
  const mark = card.querySelector('.card-mark')
  copy.querySelector('.card-mark')?.remove()
  if (mark) copy.prepend(mark.cloneNode(true))
  animated.append(copy)
  document.body.append(animated)
  const path = [{ transform: `translate(${from.left - to.left}px, ${from.top - to.top}px)` }, { transform: 'none' }]
  const timing = { duration: DURATION_MS, easing: 'cubic-bezier(0.2, 0.8, 0.2, 1)' }
  card.animate([{ opacity: 0 }, { opacity: 0 }], DURATION_MS)
  animated.animate(path, timing).finished.then(
    () => animated.remove(),
    () => animated.remove(),
  )
}
