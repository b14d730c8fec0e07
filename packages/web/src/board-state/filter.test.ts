import type { Card, FullBoard } from '@lockstep/client'
import { expect, test } from 'vitest'
import { hasPart, isShown, labelPart, parseFilter, splitFilter, togglePart } from './filter.ts'

const card = {
  number: 12,
  due_on: null,
  title: 'Fix the login',
  description: 'It fails with umlauts',
  labels: [{ name: 'Bug' }, { name: 'Needs care' }],
  assignees: [{ id: 'g', username: 'grace' }],
} as Card
const today = '2026-11-18'
const shows = (text: string, meId = 'a', changes: Partial<Card> = {}, isDone = false) => {
  const filter = parseFilter(text)
  return filter === undefined || isShown({ ...card, ...changes }, filter, { meId, isDone, today })
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
  expect(shows('is:unassigned @grace', 'a', { assignees: [] })).toBe(true)
})

test('[WEB-153] a number finds the card that has it, and no other', () => {
  const described = { description: 'See #3 and #120' }
  expect(['#12', '#3 #12', '#12 login', '"#3"'].filter((text) => !shows(text, 'a', described))).toEqual([])
  expect(['#1', '#120', '#3', '#12 logout', '#0'].filter((text) => shows(text))).toEqual([])
  // Not confirmed yet.
  expect(shows('#12', 'a', { number: 0 })).toBe(false)
})

test.each([
  // Nothing, yesterday, today, six days from now, seven days from now.
  ['due:none', [null]],
  ['due:overdue', ['2026-11-17']],
  ['due:today', ['2026-11-18']],
  ['due:week', ['2026-11-18', '2026-11-24']],
  ['DUE:None due:Overdue', [null, '2026-11-17']],
  ['due:week login', ['2026-11-18', '2026-11-24']],
  ['due:week logout', []],
  ['due:later', []],
])('[WEB-156] %s matches %j', (text, expected) => {
  const days = [null, '2026-11-17', '2026-11-18', '2026-11-24', '2026-11-25']
  expect(days.filter((due_on) => shows(text, 'a', { due_on }))).toEqual(expected)
})

test('[WEB-156] a card in a done column is never overdue, and a card without the field has no due date', () => {
  expect(shows('due:overdue', 'a', { due_on: '2026-11-17' }, true)).toBe(false)
  expect(shows('due:today', 'a', { due_on: today }, true)).toBe(true)
  expect(shows('due:none', 'a', { due_on: undefined } as unknown as Partial<Card>)).toBe(true)
})

const board = {
  labels: [
    { id: '1', name: 'Bug' },
    { id: '2', name: 'Needs care' },
  ],
  members: [{ user_id: 'g', user: { username: 'grace' } }],
} as unknown as FullBoard

test('[WEB-21] known labels and people become chips, in the order in which they are written', () => {
  const text = 'label:bug @me label:"Needs care" is:unassigned due:Week @Grace '
  expect(splitFilter(`${text}the login `, board)).toEqual({
    chips: [
      { part: 'label:bug', on: 'label', id: '1' },
      { part: '@me', on: 'me', id: 'me' },
      { part: 'label:"Needs care"', on: 'label', id: '2' },
      { part: 'is:unassigned', on: 'unassigned', id: 'unassigned' },
      { part: 'due:Week', on: 'due', id: 'week' },
      { part: '@Grace', on: 'person', id: 'g' },
    ],
    // A space at the end is kept, because the next word may follow.
    words: 'the login ',
  })
  expect(splitFilter('', board)).toEqual({ chips: [], words: '' })
})

test('[WEB-21] what names no label and no person stays in the field', () => {
  for (const words of ['label:unknown', '@gr', 'is:open', 'due:later', '#12', 'label:', '"the login"'])
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
