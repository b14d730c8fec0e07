import { expect, test } from 'vitest'
import { code, image, toggleHeading, toggleList } from './format-text.ts'
import type { SelectedText, TextEdit } from './text-keys.ts'

/** `|` marks both ends of the selection. */
const given = (marked: string): SelectedText => {
  const [before = '', chosen = '', after] = marked.split('|')
  if (after === undefined) return { text: before + chosen, start: before.length, end: before.length }
  return { text: before + chosen + after, start: before.length, end: before.length + chosen.length }
}
const after = (marked: string, act: (selected: SelectedText) => TextEdit): string => {
  const selected = given(marked)
  const { from, to, insert, start, end } = act(selected)
  const next = selected.text.slice(0, from) + insert + selected.text.slice(to)
  return next.slice(0, start) + (start === end ? '|' : `|${next.slice(start, end)}|`) + next.slice(end)
}

test.each([
  ['one|', '- one|'],
  ['|', '- |'],
  ['- one|', 'one|'],
  ['- |one', '|one'],
  ['a\n|one\ntwo|\nb', 'a\n|- one\n- two|\nb'],
  ['|- one\n- two|', '|one\ntwo|'],
  ['|- one\ntwo|', '|- one\n- two|'],
  ['|one\n\ntwo|', '|- one\n\n- two|'],
  ['  one|', '  - one|'],
  ['|1. one\n2. two|', '|- one\n- two|'],
  ['- [x] one|', '- one|'],
  ['**one**|', '- **one**|'],
  ['|one\n|two', '|- one|\ntwo'],
  ['|\nb', '- |\nb'],
])('[WEB-26] bulleted list: %j → %j', (before, then) => {
  expect(after(before, (selected) => toggleList(selected, 'bullet'))).toBe(then)
})

test.each([
  ['|one\n- two\nthree|', '|1. one\n2. two\n3. three|'],
  ['|1. one\n2) two|', '|one\ntwo|'],
])('[WEB-26] numbered list: %j → %j', (before, then) => {
  expect(after(before, (selected) => toggleList(selected, 'number'))).toBe(then)
})

test.each([
  ['|one\n- two|', '|- [ ] one\n- [ ] two|'],
  ['|- [ ] one\n- [x] two|', '|one\ntwo|'],
  ['- [ ] |', '|'],
])('[WEB-26] task list: %j → %j', (before, then) => {
  expect(after(before, (selected) => toggleList(selected, 'task'))).toBe(then)
})

test.each([
  ['one|', '## one|'],
  ['## one|', 'one|'],
  ['|# one\ntwo|', '|## one\n## two|'],
])('[WEB-26] heading: %j → %j', (before, then) => {
  expect(after(before, toggleHeading)).toBe(then)
})

test.each([
  ['a |word| here', 'a `|word|` here'],
  ['a `|word|` here', 'a |word| here'],
  ['a\n|one\ntwo|\nb', 'a\n```\n|one\ntwo|\n```\nb'],
  ['|```\none\n```|', '````\n|```\none\n```|\n````'],
])('[WEB-26] code: %j → %j', (before, then) => {
  expect(after(before, code)).toBe(then)
})

test('[WEB-26] an image is inserted with its name', () => {
  const insert = (marked: string, name: string) => after(marked, (selected) => image(selected, { id: '1', name }))
  expect(insert('a |b| c', 'cat.png')).toBe('a b![cat.png](/attachments/1)| c')
  expect(insert('|', 'a]b[c\\d.png')).toBe('![a\\]b\\[c\\\\d.png](/attachments/1)|')
})
