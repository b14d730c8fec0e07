import { test as check, fc } from '@fast-check/vitest'
import { describe, expect, test } from 'vitest'
import { fuzzy, rank } from './fuzzy.ts'

const titles = [
  'Rotate signing secret without logging everyone out',
  'Gap detection: ask for missed events, then fall back to a snapshot',
  'Keep drafts when the card dialog closes',
  'Dark theme: label contrast for arbitrary hex colours',
  'Überprüfung der Größe',
]
const found = (query: string) => rank(query, titles, (title) => title).map(({ item }) => item)

describe('[WEB-30] the palette finds items by fragments', () => {
  test.each([
    ['snap', 1],
    ['SIGNING', 0],
    ['events gap', 1],
    ['uber gro', 4],
    ['rssw', 0],
    ['cntrst', 3],
    ['dilog', 2],
  ])('[WEB-30] “%s” finds its card first', (query, index) => {
    expect(found(query)[0]).toBe(titles[index])
  })

  test('[WEB-30] every word of the query must match', () => {
    expect(found('gap zebra')).toEqual([])
    expect(fuzzy('xyz', 'Keep drafts')).toBeUndefined()
  })

  test('[WEB-30] whole words rank before word starts, word starts before substrings, subsequences last', () => {
    const texts = ['c-a-r-d', 'a discarded idea', 'the cardinal', 'the card', 'card']
    expect(rank('card', texts, (text) => text).map(({ item }) => item)).toEqual(texts.toReversed())
  })

  test('[WEB-30] items with equal scores stay in order, and an empty query finds all', () => {
    const same = ['Review', 'Review', 'Review'].map((title, id) => ({ title, id }))
    expect(rank('rev', same, ({ title }) => title).map(({ item }) => item.id)).toEqual([0, 1, 2])
    expect(found('  ')).toEqual(titles)
  })

  test('[WEB-30] matching ranges are returned, adjacent ranges merged', () => {
    expect(fuzzy('draft', 'Keep drafts')?.ranges).toEqual([[5, 10]])
    expect(fuzzy('keep ep', 'Keep drafts')?.ranges).toEqual([[0, 4]])
  })

  check.prop([fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' }), fc.nat(), fc.nat()])(
    '[WEB-30] every fragment of a title finds it, with ranges inside the title',
    (title, a, b) => {
      const [from, to] = [a % (title.length + 1), b % (title.length + 1)].sort((x, y) => x - y)
      const match = fuzzy(title.slice(from, to), title)
      expect(match).toBeDefined()
      let last = 0
      for (const [start, end] of match?.ranges ?? []) {
        expect(start).toBeGreaterThanOrEqual(last)
        expect(end).toBeGreaterThan(start)
        last = end
      }
      expect(last).toBeLessThanOrEqual(title.length)
    },
  )
})
