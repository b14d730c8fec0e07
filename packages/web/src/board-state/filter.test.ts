import type { Card } from '@lockstep/client'
import { expect, test } from 'vitest'
import { hasPart, isShown, labelPart, parseFilter, togglePart } from './filter.ts'

const card = {
  title: 'Fix the login',
  description: 'It fails with umlauts',
  labels: [{ name: 'Bug' }, { name: 'Needs care' }],
  assignees: [{ id: 'g', username: 'grace' }],
} as Card
const shows = (text: string, me = 'a') => {
  const filter = parseFilter(text)
  return filter === undefined || isShown(card, filter, me)
}

test('[WEB-21] all words must occur in title or description, ignoring case', () => {
  expect(['login', 'LOGIN umlauts', '"the login"', ''].map((text) => shows(text))).toEqual([true, true, true, true])
  expect(['logout', 'login logout'].map((text) => shows(text))).toEqual([false, false])
})

test('[WEB-21] labels, people and unassigned cards have their own syntax', () => {
  expect(['label:bug', 'label:"needs care" login', '@grace', '@gr'].map((text) => shows(text))).toEqual(
    Array(4).fill(true),
  )
  expect(['label:bu', 'is:unassigned', '@ada', '@me'].map((text) => shows(text))).toEqual(Array(4).fill(false))
  expect(shows('@me', 'g')).toBe(true)
})

test('[WEB-21] toggling a part leaves the rest unchanged', () => {
  const part = labelPart('Needs care')
  const filtered = togglePart('login @me', part)
  expect(filtered).toBe('login @me label:"Needs care"')
  expect([hasPart(filtered, part), hasPart(filtered, '@me'), hasPart(filtered, 'label:bug')]).toEqual([
    true,
    true,
    false,
  ])
  expect(togglePart(filtered, part)).toBe('login @me')
})
