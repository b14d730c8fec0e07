import type { JsonText } from '@lockstep/contract/operation'
import { describe, expect, test } from 'vitest'
import { appendElements, fieldOf, hasElement, type ListField, replaceFields } from './json-text.ts'

interface Card {
  id: string
  title: string
  note: string | null
  rank: number
  labels: { id: string; name: string }[]
  assignees: { id: string; title: string }[]
  updated_at: string
}
/** JSON text as PostgreSQL writes it: a space between the elements of a list, and nowhere else. */
const textOf = ({ labels, assignees, ...card }: Card) => {
  const list = (elements: object[]) => `[${elements.map((each) => JSON.stringify(each)).join(', ')}]`
  const { updated_at, ...first } = card
  return `${JSON.stringify(first).slice(0, -1)},"labels":${list(labels)},"assignees":${list(assignees)},"updated_at":"${updated_at}"}` as JsonText<Card>
}
const ODD = '\\"title":"x","updated_at":"y"],"assignees":[{"id":"1",\\\\'
const card: Card = {
  id: '0',
  title: ODD,
  note: null,
  rank: -5,
  labels: [
    { id: '1', name: ODD },
    { id: '2', name: ']' },
  ],
  assignees: [{ id: '3', title: ODD }],
  updated_at: 'then',
}
const LABELS: ListField = ['labels', 'assignees']
const ASSIGNEES: ListField = ['assignees', 'updated_at']

describe('[WRITE-9] JSON text', () => {
  test('keeps every other byte when fields are replaced, also beside text that looks like JSON', () => {
    const changes = [{ title: 'New' }, { title: `${ODD}!` }, { note: ODD, rank: 7 }, { updated_at: 'now', note: null }]
    for (const change of changes) expect(replaceFields(textOf(card), change)).toBe(textOf({ ...card, ...change }))
    expect(() => replaceFields(textOf(card), { missing: 1 } as Partial<Card>)).toThrow('no field missing')
  })

  test('has the text of each field', () => {
    expect(fieldOf(textOf(card), 'title')).toBe(JSON.stringify(ODD))
    expect(['note', 'rank', 'updated_at'].map((name) => fieldOf(textOf(card), name))).toEqual(['null', '-5', '"then"'])
  })

  test('knows the elements of a list', () => {
    const has = (list: ListField) => ['1', '2', '3', '4'].filter((id) => hasElement(textOf(card), list, id))
    expect([has(LABELS), has(ASSIGNEES)]).toEqual([['1', '2'], ['3']])
  })

  test('gets elements at the end of a list, which may be empty', () => {
    const label = { id: '9', name: ODD }
    for (const labels of [[], card.labels]) {
      const before = textOf({ ...card, labels })
      const after = textOf({ ...card, labels: [...labels, label] })
      expect(appendElements(before, LABELS, [JSON.stringify(label)])).toBe(after)
    }
    const [one, two] = [
      { id: '7', title: 'a' },
      { id: '8', title: 'b' },
    ]
    const elements = [one, two].map((each) => JSON.stringify(each))
    const assignees = [...card.assignees, one, two] as Card['assignees']
    expect(appendElements(textOf(card), ASSIGNEES, elements)).toBe(textOf({ ...card, assignees }))
    expect(appendElements(textOf(card), ASSIGNEES, [])).toBe(textOf(card))
  })
})
