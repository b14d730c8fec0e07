import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeText } from './merge-text.ts'

const lines = (...all: string[]) => all.join('\n')
const base = lines('title', '', 'first', 'second', 'third')

test('[WEB-20] changes to different lines are merged', () => {
  const mine = lines('title', '', 'FIRST', 'second', 'third')
  const theirs = lines('title', '', 'first', 'second', 'third', 'fourth')
  expect(mergeText(base, mine, theirs)).toBe(lines('title', '', 'FIRST', 'second', 'third', 'fourth'))
})

test('[WEB-20] changes to the same line are a conflict', () => {
  const mine = lines('title', '', 'mine', 'second', 'third')
  const theirs = lines('title', '', 'theirs', 'second', 'third')
  expect(mergeText(base, mine, theirs)).toBeUndefined()
})

test('[WEB-20] a line deleted by one and changed by the other is a conflict', () => {
  expect(
    mergeText(base, lines('title', '', 'second', 'third'), lines('title', '', 'first!', 'second', 'third')),
  ).toBeUndefined()
})

test('[WEB-20] the same change on both sides is applied once', () => {
  const both = lines('title', '', 'first', 'second', 'third', 'same')
  expect(mergeText(base, both, both)).toBe(both)
})

test('[WEB-20] two texts without a common base are a conflict', () => {
  expect(mergeText('', 'mine', 'theirs')).toBeUndefined()
})

const text = fc.array(fc.constantFrom('a', 'b', 'c', '', ' '), { maxLength: 8 }).map((all) => all.join('\n'))

test('[WEB-20] if only one side changed, its text is the result', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      expect(mergeText(before, after, before)).toBe(after)
      expect(mergeText(before, before, after)).toBe(after)
      expect(mergeText(before, after, after)).toBe(after)
    }),
  )
})

test('[WEB-20] a merged text contains every added line', () => {
  const pieces = fc.array(fc.constantFrom<string>('one', 'two', 'three', 'four'), { minLength: 1, maxLength: 6 })
  const index = fc.nat({ max: 6 })
  fc.assert(
    fc.property(pieces, index, index, (all, here, there) => {
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
