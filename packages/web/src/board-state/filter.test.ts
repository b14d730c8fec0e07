import type { Card, FullBoard } from '@lockstep/client'
import { expect, test } from 'vitest'
import { hasPart, isShown, labelPart, parseFilter, splitFilter, togglePart } from './filter.ts'

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

test('[WEB-21] one of several labels is enough, and one of several people; every word must match', () => {
  const matching = [
    'label:bug label:other',
    'label:other label:"needs care"',
    '@ada @grace',
    'is:unassigned @grace',
    'label:bug label:other @ada @grace login',
  ]
  expect(matching.filter((text) => !shows(text))).toEqual([])
  const others = [
    'label:other label:more',
    '@ada @me',
    'is:unassigned @me',
    'label:bug @ada',
    'label:other @grace',
    'label:bug login logout',
  ]
  expect(others.filter((text) => shows(text))).toEqual([])
  const unassigned = { ...card, assignees: [] }
  const filter = parseFilter('is:unassigned @grace')
  expect(filter && isShown(unassigned, filter, 'a')).toBe(true)
})

const board = {
  labels: [
    { id: '1', name: 'Bug' },
    { id: '2', name: 'Needs care' },
  ],
  members: [{ user_id: 'g', user: { username: 'grace' } }],
} as unknown as FullBoard

test('[WEB-21] known labels and people become chips, in the order in which they are written', () => {
  const text = 'label:bug @me label:"Needs care" is:unassigned @Grace '
  expect(splitFilter(`${text}the login `, board)).toEqual({
    chips: [
      { part: 'label:bug', on: 'label', id: '1' },
      { part: '@me', on: 'me', id: 'me' },
      { part: 'label:"Needs care"', on: 'label', id: '2' },
      { part: 'is:unassigned', on: 'unassigned', id: 'unassigned' },
      { part: '@Grace', on: 'person', id: 'g' },
    ],
    // A space at the end is kept, because the next word may follow.
    words: 'the login ',
  })
  expect(splitFilter('', board)).toEqual({ chips: [], words: '' })
})

test('[WEB-21] what names no label and no person stays in the field', () => {
  for (const words of ['label:unknown', '@gr', 'is:open', 'label:', '"the login"'])
    expect(splitFilter(`@me ${words}`, board)).toEqual({ chips: [{ part: '@me', on: 'me', id: 'me' }], words })
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
