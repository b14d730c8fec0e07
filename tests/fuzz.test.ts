import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { Client } from '../packages/server/testing/client.ts'
import { endProcesses, type ServiceProcess, startServiceProcess } from '../packages/server/testing/processes.ts'
import { databaseUrl, onServer, REDIS } from '../packages/server/testing/template-database.ts'
import { isAdministration, operationsOf, type Published, readMessages, readOpenApi } from './fuzz/document.ts'
import { judgeEnd, judgeMessage, judgeOdd } from './fuzz/frame-judge.ts'
import { fuzzFrames } from './fuzz/frame-run.ts'
import { judge } from './fuzz/judge.ts'
import { newPerson } from './fuzz/person.ts'
import { plainRequest } from './fuzz/requests.ts'
import { fuzz } from './fuzz/run.ts'
import { errorsIn, growthOf, watch } from './fuzz/watch.ts'
import { startSpoilingProxy } from './spoiling-proxy.ts'

/** A few of what `npm run prove -- fuzz` sends. */
const SIZE = { seed: 1, requests: 20_000, at_once: 16 }
const FRAMES = { seed: 1, frames: 5_000, at_once: 24 }
/** It warms up all the while; what it keeps of each request would be more. */
const GROWTH_MIB = 96
/** A process with room to spare does not tidy up. */
const HEAP_MIB = 256
const PATIENCE_MS = 600_000
const NAME = `lockstep_fuzz_${process.pid}`

let service: ServiceProcess
let watching: ReturnType<typeof watch>
beforeAll(async () => {
  await onServer((client) => client.query(`create database ${NAME} template ${inject('template')}`))
  const JWT_SECRET = 'hush-hush-signing-secret-of-the-fuzzer-0123456789'
  service = await startServiceProcess({
    DATABASE_URL: databaseUrl(NAME),
    REDIS_URL: REDIS,
    JWT_SECRET,
    LOG_LEVEL: 'warn',
    BOARD_WAIT_MS: '12000',
    ADMIN_API: 'on',
    BOARD_CACHE_BYTES: '4194304',
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
  })
  watching = watch([service])
}, 180_000)
afterAll(async () => {
  await endProcesses()
  await onServer((client) => client.query(`drop database if exists ${NAME} with (force)`))
})

test('[FUZZ-1] [FUZZ-2] requests of every kind are answered as the document says', {
  timeout: PATIENCE_MS,
}, async () => {
  const operations = operationsOf(readOpenApi())
  const { violations, operations: asked, met, tricks, requests } = await fuzz(service.base_url, operations, SIZE)
  expect(violations).toEqual([])
  expect(requests).toBeGreaterThanOrEqual(SIZE.requests)
  expect([...met.keys()].filter((status) => /^5(?!03)/.test(status))).toEqual([])
  // All of them were asked, most with success: what lies deep was reached.
  expect(operations.filter(({ id }) => !asked.has(id)).map(({ id }) => id)).toEqual([])
  const succeeded = operations.filter(({ id }) => (asked.get(id)?.succeeded ?? 0) > 0)
  expect(succeeded.filter(isAdministration)).toEqual([])
  expect(succeeded.length).toBeGreaterThan(operations.filter((one) => !isAdministration(one)).length - 5)
  expect([...tricks.keys()].sort()).toEqual([
    'body',
    'credentials',
    'framing',
    'headers',
    'method',
    'path',
    'query',
    'type',
  ])
})

test('[FUZZ-3] frames of every kind end with the right code, and others miss nothing', {
  timeout: PATIENCE_MS,
}, async () => {
  const { token } = await newPerson(new Client(service.base_url))
  const fuzzed = await fuzzFrames(new Client(service.base_url, token), FRAMES)
  expect(fuzzed.violations).toEqual([])
  expect(fuzzed.frames).toBeGreaterThanOrEqual(FRAMES.frames)
  expect([...fuzzed.ends.keys()]).toEqual(expect.arrayContaining(['1000', '1002', '1003', '1007', '1008', '1009']))
})

test('[FUZZ-4] all the while the service was up, logged no error and kept its size', () => {
  const { complaints, growth } = watching.end()
  expect(complaints).toEqual([])
  expect(growth[0]?.growth).toBeLessThan(GROWTH_MIB)
})

describe('the judge', () => {
  const TAME = { seed: 7, requests: 300, at_once: 8, is_tame: true }
  const idsIn = (violations: string[], sentence: RegExp) =>
    new Set(violations.filter((line) => sentence.test(line)).map((line) => /request -?\d+, (\w+):/.exec(line)?.[1]))

  test('[FUZZ-1] finds each answer that is spoilt, and no other', { timeout: PATIENCE_MS }, async () => {
    const json = { 'content-type': 'application/json; charset=utf-8' }
    const spoils: Record<string, { status?: number; type?: string; content?: (text: string) => string }> = {
      'GET /boards': { status: 500, content: () => '{"detail":"x","code":"internal"}' },
      'GET /users': { status: 403, type: 'text/html', content: () => '<h1>Forbidden</h1>' },
      'GET /auth/me': { status: 403, content: () => '{"code":"not_a_member"}' },
      'GET /health': { status: 418 },
      'POST /auth/refresh': { content: (text) => text.replace('{', '{"hashed_password":"x",') },
      'POST /auth/ticket': { content: (text) => text.slice(1) },
      'POST /auth/logout': { status: 422, content: () => '{"detail":"x","code":"invalid_input"}' },
    }
    await using proxy = await startSpoilingProxy(service.base_url, {
      answer: ({ method, path }, { status, headers, content }) => {
        const spoil = spoils[`${method} ${path}`]
        if (!spoil) return { status, headers, content }
        const text = spoil.content?.(content.toString()) ?? content.toString()
        const type = spoil.type ? { 'content-type': spoil.type } : json
        return { status: spoil.status ?? status, headers: { ...headers, ...type }, content: Buffer.from(text) }
      },
    })
    const { violations } = await fuzz(proxy.base_url, operationsOf(readOpenApi()), TAME)
    const expected: [RegExp, string][] = [
      [/500: a defect/, 'listBoards'],
      [/403 is no JSON/, 'findUsers'],
      [/403 has no string detail/, 'getMe'],
      [/418 has no code/, 'getHealth'],
      [/additionalProp/, 'refresh'],
      [/the body is no JSON/, 'createTicket'],
      [/refused as invalid/, 'logout'],
    ]
    for (const [sentence, id] of expected) expect(idsIn(violations, sentence)).toEqual(new Set([id]))
    expect(idsIn(violations, /./)).toEqual(new Set(expected.map(([, id]) => id)))
  })

  test('[FUZZ-1] finds where the document and the service part', { timeout: PATIENCE_MS }, async () => {
    const document = readOpenApi() as Published & { components: { schemas: Record<string, object> } }
    const label = document.components.schemas['Label']
    if (!label?.properties?.['name']) throw new Error('There is no label in the document')
    label.properties['name'] = { type: 'integer' }
    const { get } = document.paths['/boards/{board_id}'] ?? {}
    if (!get) throw new Error('There is no board in the document')
    delete get.responses['200']
    const { violations } = await fuzz(service.base_url, operationsOf(document), TAME)
    expect(idsIn(violations, /200 is not documented/)).toEqual(new Set(['getBoard']))
    expect(idsIn(violations, /must be integer/)).toContain('createLabel')
  })

  test('[FUZZ-2] finds that something was accepted that the document refuses', () => {
    const operation = operationsOf(readOpenApi()).find(({ id }) => id === 'createLabel')
    if (!operation) throw new Error('There is no createLabel in the document')
    const somebody = { id: '', token: '', email: '', password: '' }
    const accepted = { status: 201, headers: new Map<string, string>(), bytes: Buffer.from('{}') }
    const complaintsOf = (fields: object) =>
      judge({ ...plainRequest(operation, somebody, {}, fields), tricks: new Set(['body']) }, accepted).complaints
    const sentence = 'a body that does not fit the document was accepted with 201'
    for (const fields of [{ name: 'x'.repeat(256) }, { name: null }, {}, { name: 'x', color: 5 }, { name: ' ' }])
      expect(complaintsOf(fields)).toContain(sentence)
    expect(complaintsOf({ name: 'x', color: '', unknown: 5 })).not.toContain(sentence)
  })

  test('[FUZZ-3] finds a wrong code, a cut line, a refusal in prose and a message that nobody knows', () => {
    const ending = { code: 1000, refusal: undefined, messages: [], garbled: [] } as const
    const sent = [{ what: 'a binary message', codes: [1003] }]
    const end = { ...ending, messages: [], garbled: [] }
    expect(judgeEnd({ ...end, code: 1003 }, sent)).toEqual([])
    for (const code of [1000, 1006, 'cut', 'open'] as const) expect(judgeEnd({ ...end, code }, sent)).toHaveLength(1)
    expect(judgeEnd({ ...end, code: 1002 }, [{ what: 'a message', codes: [] }])).toHaveLength(1)
    expect(judgeOdd({ ...end, code: 'cut' })).toHaveLength(1)
    expect(judgeOdd({ ...end, refusal: { status: 400, text: 'Bad Request' } })).toHaveLength(1)
    expect(judgeOdd({ ...end, refusal: { status: 400, text: '{"detail":"No."}' } })).toEqual([])
    const documented = readMessages()
    const joined = { type: 'user_joined', user_id: '00000000-0000-4000-8000-000000000000', username: 'x' }
    expect(judgeMessage(documented, joined)).toEqual([])
    expect(judgeMessage(documented, { ...joined, email: 'x' })).toHaveLength(1)
    expect(judgeMessage(documented, { ...joined, type: 'user_danced' })).toHaveLength(1)
  })

  test('[FUZZ-4] finds an error in the log, a word that is no line of it, and growth', () => {
    expect(errorsIn('{"level":40,"msg":"slow"}\n')).toEqual([])
    expect(errorsIn('{"level":50,"msg":"broken"}\n')).toHaveLength(1)
    expect(errorsIn('{"level":40,"msg":"Unhandled promise rejection"}\nTypeError: x\n')).toHaveLength(2)
    expect(growthOf(Array.from({ length: 100 }, (_, i) => 200 + i)).growth).toBeGreaterThan(75)
    expect(growthOf(Array.from({ length: 100 }, (_, i) => 200 + (i % 10))).growth).toBe(0)
  })
})
