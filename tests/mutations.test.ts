import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { mutations } from './mutations/list.ts'

test.for(mutations)('the text of the mutation is in $file once: $name', ({ file, find, replace }) => {
  expect(readFileSync(file, 'utf8').split(find)).toHaveLength(2)
  expect(replace).not.toBe(find)
})

test('the names of the mutations are different', () => {
  expect(new Set(mutations.map(({ name }) => name)).size).toBe(mutations.length)
})
