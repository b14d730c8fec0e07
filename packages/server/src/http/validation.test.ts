import { Uuid } from '@lockstep/contract/operation'
import Type from 'typebox'
import { expect, test } from 'vitest'
import { Problem } from '../platform/problem.ts'
import { inputReader, requireKnownFields } from './validation.ts'

const Item = Type.Object({ name: Type.String(), data: Type.Unsafe({ type: 'object' }) })
const Body = Type.Object({
  title: Type.String(),
  item: Type.Union([Item, Type.Null()]),
  items: Type.Array(Item),
  either: Type.Union([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Array(Item) })]),
})

const fieldsOf = (body: unknown): unknown => {
  try {
    requireKnownFields({ query: undefined, body: Body }, { query: {}, body })
    return []
  } catch (error) {
    return (error as Problem).fields['errors']
  }
}
const named = (...fields: string[]) => fields.map((field) => ({ field, message: 'is not a field of this operation' }))

test('[REQ-26] unknown fields are found in nested objects, lists and alternatives', () => {
  expect(fieldsOf({ title: 'x', item: { name: 'x', x: 1 } })).toEqual(named('item.x'))
  expect(fieldsOf({ items: [{ name: 'x' }, { x: 1, y: 2 }] })).toEqual(named('items.1.x', 'items.1.y'))
  expect(fieldsOf({ either: { a: 'x', b: [{ x: 1 }], c: 1 } })).toEqual(named('either.b.0.x', 'either.c'))
  expect(fieldsOf(JSON.parse('{"__proto__": 1, "constructor": 2}'))).toEqual(named('__proto__', 'constructor'))
})

test('[REQ-26] an object without declared fields may have any, and other types are left to validation', () => {
  expect(fieldsOf({ item: { name: 'x', data: { anything: { goes: 1 } } } })).toEqual([])
  for (const body of [null, [], 'text', 5, { item: null, items: 'x', either: [] }]) expect(fieldsOf(body)).toEqual([])
  expect(() =>
    requireKnownFields({ query: undefined, body: undefined }, { query: { x: '1' }, body: undefined }),
  ).toThrow(Problem)
})

test('[REQ-25] a list with too many items is one error, and no item is read', () => {
  const read = inputReader(Type.Object({ user_ids: Type.Array(Uuid, { maxItems: 100 }), title: Type.String() }))
  let itemsRead = 0
  const user_ids = new Proxy(Array(500_000).fill(0), {
    get(items, key) {
      if (/^\d+$/.test(String(key))) itemsRead++
      return Reflect.get(items, key)
    },
  })
  const errors = [
    { field: 'user_ids', message: 'must have at most 100 items' },
    { field: 'title', message: 'must be a string' },
  ]
  expect(() => read({ user_ids, title: 5 })).toThrow(expect.objectContaining({ fields: { errors } }))
  // Validating each item took a hundred times as long as parsing.
  expect(itemsRead).toBe(0)
})

test('[REQ-25] a text that is far too long is rejected before its format is checked', () => {
  // Backtracking: this pattern takes minutes for a text that does not match.
  const read = inputReader(Type.Object({ text: Type.String({ maxLength: 3, pattern: '^(?:a+)+$' }) }))
  const began = performance.now()
  expect(() => read({ text: `${'a'.repeat(34)}!` })).toThrow('at most 3 characters')
  expect(performance.now() - began).toBeLessThan(10_000)
})
