import type { Card, Column, FullBoard } from '@lockstep/client'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Direction, placementAt, stepPlacement } from './board-model.ts'

const card = (id: string) => ({ id, title: id }) as Card
const makeColumn = (id: string, ...cards: string[]) => ({ id, title: id, cards: cards.map(card) }) as Column
const all = ({ cards }: Column) => cards

/** The column after a move, by the server's rule. */
function placed({ cards }: Column, moved: string, after_id: string | null): string[] {
  const ids = cards.map(({ id }) => id).filter((id) => id !== moved)
  ids.splice(after_id === null ? 0 : ids.indexOf(after_id) + 1, 0, moved)
  return ids
}

describe('drop position', () => {
  const columns = fc
    .uniqueArray(fc.string({ minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 12 })
    .map((ids) => makeColumn('column', ...ids))

  test('[WEB-22] a card dropped between two visible cards stays between them, whatever the filter hides', () => {
    fc.assert(
      fc.property(
        columns,
        fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
        fc.nat(12),
        (column, picks, at) => {
          const shown = column.cards.filter((_, i) => picks[i])
          const index = Math.min(at, shown.length)
          const { after_id } = placementAt(column, shown, index)
          const order = placed(column, 'new card', after_id).filter(
            (id) => id === 'new card' || shown.some((c) => c.id === id),
          )
          expect(order.indexOf('new card')).toBe(index)
          const above = shown[index - 1]
          // Right after the visible card above, not among the hidden ones.
          if (above) expect(after_id).toBe(above.id)
        },
      ),
    )
  })

  test('[WEB-22] a card dropped above the first visible card is right before it', () => {
    const column = makeColumn('column', 'hidden 1', 'hidden 2', 'shown', 'hidden 3')
    const { after_id, position } = placementAt(column, [card('shown')], 0)
    expect({ after_id, position }).toEqual({ after_id: 'hidden 2', position: 2 })
  })

  test('[WEB-22] a card moved within its column does not count as its own neighbour', () => {
    const column = makeColumn('column', 'a', 'b', 'c')
    expect(placementAt(column, [card('a'), card('c')], 1, 'b')).toEqual({
      column_id: 'column',
      after_id: 'a',
      position: 1,
    })
    expect(placementAt(column, [card('b'), card('c')], 0, 'a')).toEqual({
      column_id: 'column',
      after_id: null,
      position: 0,
    })
  })
})

describe('keyboard steps', () => {
  const board = {
    columns: [makeColumn('one', 'a', 'b', 'c'), makeColumn('two'), makeColumn('three', 'd')],
  } as FullBoard
  const after = (id: string, direction: Direction) => {
    const placement = stepPlacement(board, all, id, direction)
    return placement && [placement.column_id, placement.after_id]
  }

  test('[WEB-24] up and down pass one card, first and last go to the ends', () => {
    expect(after('b', 'up')).toEqual(['one', null])
    expect(after('b', 'down')).toEqual(['one', 'c'])
    expect(after('c', 'first')).toEqual(['one', null])
    expect(after('a', 'last')).toEqual(['one', 'c'])
  })

  test('[WEB-24] a step sideways keeps the index, up to the end of the column', () => {
    expect(after('c', 'right')).toEqual(['two', null])
    expect(after('d', 'left')).toEqual(['two', null])
    const wide = { columns: [makeColumn('one', 'a', 'b'), makeColumn('two', 'c', 'd', 'e')] } as FullBoard
    expect(stepPlacement(wide, all, 'b', 'right')).toEqual({ column_id: 'two', after_id: 'c', position: 1 })
  })

  test('[WEB-24] there is no step at the edge', () => {
    expect([
      after('a', 'up'),
      after('c', 'down'),
      after('a', 'left'),
      after('d', 'right'),
      after('a', 'first'),
    ]).toEqual(Array(5).fill(undefined))
  })
})
