import { useMemo } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { type LinkedCard, numbersIn } from './markdown-html.ts'

/**
 * The cards to which a text refers, by number. The same map while they are unchanged: otherwise each change of the board would
 * render the text again, and the focus and the selection in it would be lost.
 */
export function useLinkedCards(text: string): ReadonlyMap<number, LinkedCard> {
  const { board_id } = useTools()
  const { view } = useShownBoard()
  const numbers = useMemo(() => numbersIn(text), [text])
  const found = view.columns.flatMap(({ cards, is_done_column }) =>
    cards
      .filter(({ number }) => numbers.has(number))
      .map(({ number, id, title }): [number, LinkedCard] => [
        number,
        { id, href: `/app/b/${board_id}/c/${id}`, title, isDone: is_done_column },
      ]),
  )
  const key = JSON.stringify(found)
  return useMemo(() => new Map(JSON.parse(key) as [number, LinkedCard][]), [key])
}
