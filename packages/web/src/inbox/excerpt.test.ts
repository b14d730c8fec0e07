import { expect, test } from 'vitest'
import { plainExcerpt } from './excerpt.ts'

test.each([
  ['Please **look** at `main.ts`, @Ada', 'Please look at main.ts, @Ada'],
  ['![shot.png](attachment:1) see [the page](https://example.com)', 'shot.png see the page'],
  ['# Plan\n- [ ] one\n1. two\n> three', 'Plan\none\ntwo\nthree'],
  ['![a long na](attach', 'a long na'],
  ['2 * 3 * 4 and a_b_c [x]', '2 * 3 * 4 and a_b_c [x]'],
])('[WEB-202] the excerpt of %j is %j', (markdown, text) => {
  expect(plainExcerpt(markdown)).toBe(text)
})
