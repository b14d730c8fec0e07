import Type from 'typebox'
import { expect, test } from 'vitest'
import { Problem } from '../platform/problem.ts'
import { requireKnownFields } from './validation.ts'

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
