import type { Card, Column, FullBoard } from '@lockstep/client'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Direction, placeAt, stepPlace } from './board-model.ts'

const card = (id: string) => ({ id, title: id }) as Card
const lane = (id: string, ...cards: string[]) => ({ id, title: id, cards: cards.map(card) }) as Column
const all = ({ cards }: Column) => cards

/** The lane as it is after a card went to a place: the server's own rule. */
function placed({ cards }: Column, moved: string, after_id: string | null): string[] {
  const ids = cards.map(({ id }) => id).filter((id) => id !== moved)
  ids.splice(after_id === null ? 0 : ids.indexOf(after_id) + 1, 0, moved)
  return ids
}

describe('where a card is dropped', () => {
  const lanes = fc
    .uniqueArray(fc.string({ minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 12 })
    .map((ids) => lane('lane', ...ids))

  test('[WEB-22] between two cards that are shown it stays between them, whatever the filter hides', () => {
    fc.assert(
      fc.property(lanes, fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }), fc.nat(12), (column, picks, at) => {
        const shown = column.cards.filter((_, i) => picks[i])
        const index = Math.min(at, shown.length)
        const { after_id } = placeAt(column, shown, index)
        const order = placed(column, 'new card', after_id).filter(
          (id) => id === 'new card' || shown.some((c) => c.id === id),
        )
        expect(order.indexOf('new card')).toBe(index)
        const above = shown[index - 1]
        // Right behind its visible neighbour, and not somewhere among the hidden ones.
        if (above) expect(after_id).toBe(above.id)
      }),
    )
  })

  test('[WEB-22] above the first card that is shown, it is right before that card', () => {
    const column = lane('lane', 'hidden 1', 'hidden 2', 'shown', 'hidden 3')
    const { after_id, position } = placeAt(column, [card('shown')], 0)
    expect({ after_id, position }).toEqual({ after_id: 'hidden 2', position: 2 })
  })

  test('[WEB-22] a card of the lane itself does not count as its own neighbour', () => {
    const column = lane('lane', 'a', 'b', 'c')
    expect(placeAt(column, [card('a'), card('c')], 1, 'b')).toEqual({ column_id: 'lane', after_id: 'a', position: 1 })
    expect(placeAt(column, [card('b'), card('c')], 0, 'a')).toEqual({ column_id: 'lane', after_id: null, position: 0 })
  })
})

describe('a step by keys', () => {
  const board = { columns: [lane('one', 'a', 'b', 'c'), lane('two'), lane('three', 'd')] } as FullBoard
  const after = (id: string, direction: Direction) => {
    const place = stepPlace(board, all, id, direction)
    return place && [place.column_id, place.after_id]
  }

  test('[WEB-24] up and down go past one card, first and last to the ends', () => {
    expect(after('b', 'up')).toEqual(['one', null])
    expect(after('b', 'down')).toEqual(['one', 'c'])
    expect(after('c', 'first')).toEqual(['one', null])
    expect(after('a', 'last')).toEqual(['one', 'c'])
  })

  test('[WEB-24] sideways it keeps its height, as far as there are cards', () => {
    expect(after('c', 'right')).toEqual(['two', null])
    expect(after('d', 'left')).toEqual(['two', null])
    const wide = { columns: [lane('one', 'a', 'b'), lane('two', 'c', 'd', 'e')] } as FullBoard
    expect(stepPlace(wide, all, 'b', 'right')).toEqual({ column_id: 'two', after_id: 'c', position: 1 })
  })

  test('[WEB-24] at the edge there is no step', () => {
    expect([
      after('a', 'up'),
      after('c', 'down'),
      after('a', 'left'),
      after('d', 'right'),
      after('a', 'first'),
    ]).toEqual(Array(5).fill(undefined))
  })
})
