import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** Inside the repository, so that packages are found as everywhere else. */
const folder = fileURLToPath(new URL('../.test-output/types/', import.meta.url))

const preamble = `
import Type from 'typebox'
import { type Card, cardOperations } from '@lockstep/contract/cards'
import type { Column } from '@lockstep/contract/columns'
import { type JsonText, operation } from '@lockstep/contract/operation'
import type { Handlers } from '../../packages/server/src/http/handler.ts'
const rest = {} as Omit<Handlers<typeof cardOperations>, 'getCard' | 'updateCard'>
const card = {} as Card
const ok: Handlers<typeof cardOperations> = { ...rest, getCard: async () => card, updateCard: async () => card }
`

/** Mistakes of a developer, and the expected compiler errors. */
const mistakes: Record<string, { code: string; says: RegExp }> = {
  'missing-handler': {
    code: 'export const handlers: Handlers<typeof cardOperations> = { ...rest, getCard: ok.getCard }',
    says: /Property 'updateCard' is missing/,
  },
  'operation-without-access': {
    code: "export const o = operation({ method: 'GET', path: '/x', tag: 'cards', summary: '', description: '', returns: { status: 200, schema: Type.Null() } })",
    says: /Property 'access' is missing/,
  },
  'unlisted-event': {
    code: "export const handlers = { ...ok, updateCard: async ({ emit }) => { emit('card.moved', card, { card_id: card.id }); return card } } satisfies Handlers<typeof cardOperations>",
    says: /Argument of type '"card\.moved"' is not assignable to parameter of type '"card\.updated"'/,
  },
  'event-of-a-read': {
    code: "export const handlers = { ...ok, getCard: async ({ emit }) => { emit('card.updated', card); return card } } satisfies Handlers<typeof cardOperations>",
    says: /Property 'emit' does not exist on type 'BoardContext</,
  },
  'event-with-other-data': {
    code: "export const handlers = { ...ok, updateCard: async ({ emit }) => { emit('card.updated', {} as Column, { card_id: card.id }); return card } } satisfies Handlers<typeof cardOperations>",
    says: /'Column' is not assignable to parameter of type 'Card \| JsonText<Card>'/,
  },
  'event-without-its-card': {
    code: "export const handlers = { ...ok, updateCard: async ({ emit }) => { emit('card.updated', card); return card } } satisfies Handlers<typeof cardOperations>",
    says: /Expected 3 arguments, but got 2/,
  },
  'response-lacking-a-field': {
    code: "export const handlers = { ...ok, getCard: async () => ({ id: 'x' }) } satisfies Handlers<typeof cardOperations>",
    says: /not assignable to type 'Card'|is not assignable to type 'Promise<Card \| JsonText<Card>>'/,
  },
  'text-of-another-type': {
    code: 'export const handlers = { ...ok, getCard: async () => ({}) as JsonText<Column> } satisfies Handlers<typeof cardOperations>',
    says: /JsonText<Column>.*JsonText<Card>/s,
  },
}

let errors: Map<string, string>
beforeAll(() => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}right.ts`, `${preamble}\nexport const handlers = ok\n`)
  for (const [name, { code }] of Object.entries(mistakes))
    writeFileSync(`${folder}${name}.ts`, `${preamble}\n${code}\n`)
  writeFileSync(`${folder}tsconfig.json`, JSON.stringify({ extends: '../../tsconfig.json', include: ['*.ts'] }))
  const { stdout } = spawnSync('tsc', ['-p', folder, '--pretty', 'false'], { encoding: 'utf8' })
  const messages = stdout.split(/^(?=\S*\.ts\(\d+,\d+\))/m)
  errors = new Map(messages.map((message) => [/([\w-]+)\.ts\(/.exec(message)?.[1] ?? '', message]))
})
afterAll(() => rmSync(folder, { recursive: true }))

test('[DOC-3] correct code compiles', () => {
  expect(errors.get('right')).toBeUndefined()
})

test.each(Object.entries(mistakes))('[DOC-3] %s does not compile, and the error is readable', (name, { says }) => {
  const message = errors.get(name) ?? ''
  expect(message).toMatch(says)
  // An error that lists the fields of an object does not say which type was expected.
  expect(message.length).toBeLessThan(1_250)
})
