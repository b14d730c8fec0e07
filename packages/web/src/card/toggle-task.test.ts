import { expect, test } from 'vitest'
import { markdownHtml } from './markdown-html.ts'
import { toggleTask } from './toggle-task.ts'

/** Toggles the n-th checkbox of the rendered text. */
function toggleShown(text: string, n: number): string | undefined {
  const offsets = [...markdownHtml(text).matchAll(/data-task="(\d+)"/g)].map(([, offset]) => Number(offset))
  return toggleTask(text, offsets[n] ?? -1)
}

test.each([
  ['- [ ] a\n- [x] b', 0, '- [x] a\n- [x] b'],
  ['- [ ] a\n- [x] b', 1, '- [ ] a\n- [ ] b'],
  ['1. [X] a', 0, '1. [ ] a'],
  ['- [ ] a\n  - [ ] b\n    1) [ ] c\n- [ ] d', 2, '- [ ] a\n  - [ ] b\n    1) [x] c\n- [ ] d'],
  ['- [ ] a\n  - [ ] b\n    1) [ ] c\n- [ ] d', 3, '- [ ] a\n  - [ ] b\n    1) [ ] c\n- [x] d'],
  ['> - [ ] a\n> - [ ] b', 1, '> - [ ] a\n> - [x] b'],
  ['-\t[ ] a\n-\t[ ] b', 1, '-\t[ ] a\n-\t[x] b'],
  ['- [ ] a\r\n- [ ] b', 1, '- [ ] a\r\n- [x] b'],
  ['- [ ] a\n\n- [ ] b', 1, '- [ ] a\n\n- [x] b'],
  // A footnote is shown at the end.
  ['[^1]\n\n[^1]: - [ ] note\n\n- [ ] a', 0, '[^1]\n\n[^1]: - [ ] note\n\n- [x] a'],
  ['[^1]\n\n[^1]: - [ ] note\n\n- [ ] a', 1, '[^1]\n\n[^1]: - [x] note\n\n- [ ] a'],
])('[WEB-25] in %j, checkbox %i gives %j', (text, n, then) => {
  expect(toggleShown(text, n)).toBe(then)
})

test.each([
  ['```\n- [ ] code\n```\n\n- [ ] a', '```\n- [ ] code\n```\n\n- [x] a'],
  ['    - [ ] code\n\n- [ ] a', '    - [ ] code\n\n- [x] a'],
  ['`- [ ] code`\n\n- [ ] a', '`- [ ] code`\n\n- [x] a'],
  ['- text [ ] a\n- [ ] b', '- text [ ] a\n- [x] b'],
  ['- \\[ ] a\n- [ ] b', '- \\[ ] a\n- [x] b'],
  ['- [ ](https://e.com)\n- [ ] b', '- [ ](https://e.com)\n- [x] b'],
])('[WEB-25] text that is no task is not a checkbox: %j', (text, then) => {
  expect(toggleShown(text, 0)).toBe(then)
})

test('[WEB-25] an offset without a box changes nothing', () => {
  for (const at of [-1, 0, 3, 7, 100]) expect(toggleTask('- [ ] a', at)).toBeUndefined()
})
