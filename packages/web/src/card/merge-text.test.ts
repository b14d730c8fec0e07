import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeText } from './merge-text.ts'

const lines = (...all: string[]) => all.join('\n')
const base = lines('title', '', 'first', 'second', 'third')

test('[WEB-20] two people who change different lines both keep what they wrote', () => {
  const mine = lines('title', '', 'FIRST', 'second', 'third')
  const theirs = lines('title', '', 'first', 'second', 'third', 'fourth')
  expect(mergeText(base, mine, theirs)).toBe(lines('title', '', 'FIRST', 'second', 'third', 'fourth'))
})

test('[WEB-20] two people who change the same line are asked', () => {
  const mine = lines('title', '', 'mine', 'second', 'third')
  const theirs = lines('title', '', 'theirs', 'second', 'third')
  expect(mergeText(base, mine, theirs)).toBeUndefined()
})

test('[WEB-20] a line that one deletes and the other changes is a choice, not a loss', () => {
  expect(
    mergeText(base, lines('title', '', 'second', 'third'), lines('title', '', 'first!', 'second', 'third')),
  ).toBeUndefined()
})

test('[WEB-20] the same change by both is one change', () => {
  const both = lines('title', '', 'first', 'second', 'third', 'same')
  expect(mergeText(base, both, both)).toBe(both)
})

test('[WEB-20] two texts that begin from nothing are a choice', () => {
  expect(mergeText('', 'mine', 'theirs')).toBeUndefined()
})

const text = fc.array(fc.constantFrom('a', 'b', 'c', '', ' '), { maxLength: 8 }).map((all) => all.join('\n'))

test('[WEB-20] whoever changed nothing is not in the way of who did', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      expect(mergeText(before, after, before)).toBe(after)
      expect(mergeText(before, before, after)).toBe(after)
      expect(mergeText(before, after, after)).toBe(after)
    }),
  )
})

test('[WEB-20] every line that somebody added is in a merged text', () => {
  const pieces = fc.array(fc.constantFrom<string>('one', 'two', 'three', 'four'), { minLength: 1, maxLength: 6 })
  const place = fc.nat({ max: 6 })
  fc.assert(
    fc.property(pieces, place, place, (all, here, there) => {
      const merged = mergeText(
        all.join('\n'),
        all.toSpliced(here, 0, 'mine').join('\n'),
        all.toSpliced(there, 0, 'theirs').join('\n'),
      )
      if (merged === undefined) return
      expect(merged.split('\n')).toEqual(expect.arrayContaining([...all, 'mine', 'theirs']))
    }),
  )
})
