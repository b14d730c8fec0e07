import { expect, test } from 'vitest'
import { movedPlace } from './moved-place.ts'

/** The text with a `|` at the place, which is at the `|` of the text before. */
function moved(before: string, after: string, isAfter = false): string {
  const at = movedPlace({ at: before.indexOf('|'), isAfter }, before.replace('|', ''), after)
  return `${after.slice(0, at)}|${after.slice(at)}`
}

test('[WEB-233] the place of an image moves with the text around it', () => {
  expect(moved('one | two', 'ones  two')).toBe('ones | two')
  expect(moved('one | two', 'one  two three')).toBe('one | two three')
  expect(moved('one | two', '')).toBe('|')
  expect(moved('one| two', 'two')).toBe('|two')
  expect(moved('|', 'typed')).toBe('|typed')
  expect(moved('one|', 'one and more')).toBe('one| and more')
  expect(moved('one| two', 'three')).toBe('three|')
})

test('[WEB-233] an image that is inserted at the place of a later one comes before it', () => {
  expect(moved('one| two', 'one![]() two', true)).toBe('one![]()| two')
  expect(moved('one| two', 'one![]() two', false)).toBe('one|![]() two')
})
