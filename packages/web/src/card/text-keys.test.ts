import { expect, test } from 'vitest'
import { continueList, link, type SelectedText, type TextEdit, wrap } from './text-keys.ts'

/** `|` marks both ends of the selection. */
const given = (marked: string): SelectedText => {
  const [before = '', chosen = '', after] = marked.split('|')
  if (after === undefined) return { text: before + chosen, start: before.length, end: before.length }
  return { text: before + chosen + after, start: before.length, end: before.length + chosen.length }
}
const marked = ({ text }: SelectedText, edit: TextEdit | undefined): string | undefined => {
  if (!edit) return undefined
  const { from, to, insert, start, end } = edit
  const next = text.slice(0, from) + insert + text.slice(to)
  const chosen = start === end ? '|' : `|${next.slice(start, end)}|`
  return next.slice(0, start) + chosen + next.slice(end)
}
const after = (text: string, act: (selected: SelectedText) => TextEdit | undefined) =>
  marked(given(text), act(given(text)))

test.each([
  ['a |word| here', 'a **|word|** here'],
  ['a **|word|** here', 'a |word| here'],
  ['a | here', 'a **|** here'],
])('[WEB-26] bold: %s → %s', (before, then) => {
  expect(after(before, (selected) => wrap(selected, '**'))).toBe(then)
})

test.each([
  ['a |word| here', 'a [word](|) here'],
  ['see |https://e.com|', 'see [|](https://e.com)'],
])('[WEB-26] link: %s → %s', (before, then) => {
  expect(after(before, link)).toBe(then)
})

test.each([
  ['- one|', '- one\n- |'],
  ['a\n  * one|', 'a\n  * one\n  * |'],
  ['9. nine|', '9. nine\n10. |'],
  ['- [x] done|', '- [x] done\n- [ ] |'],
  ['- one\n- |', '- one\n|'],
  ['- [ ] |', '|'],
  ['- o|ne', '- o\n- |ne'],
  ['plain|', undefined],
  ['- |one|', undefined],
])('[WEB-26] Enter in a list: %j → %j', (before, then) => {
  expect(after(before, continueList)).toBe(then)
})
