import { newAccount } from '@lockstep/testing/accounts'
import { Client } from '@lockstep/testing/client'
import { instanceSettings } from '@lockstep/testing/environment'
import { errorsIn } from '@lockstep/testing/log-errors'
import { endProcesses, type ServiceProcess, startServiceProcess } from '@lockstep/testing/processes'
import { seeded } from '@lockstep/testing/random'
import { isFullSize, REPEAT, SEED } from '@lockstep/testing/sample'
import { startTamperingProxy } from '@lockstep/testing/tampering-proxy'
import { REDIS } from '@lockstep/testing/template-database'
import { createTestDatabase, type TestDatabase } from '@lockstep/testing/test-database'
import { WEBHOOK_SETTINGS, WebhookReceiver } from '@lockstep/testing/webhook-receiver'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkClose, checkHandshake, checkMessage } from './fuzz/check-frames.ts'
import { checkResponse } from './fuzz/check-response.ts'
import { isAdministration, operationsOf, type Published, readMessages, readOpenApi } from './fuzz/document.ts'
import { fuzzFrames } from './fuzz/frame-run.ts'
import { growthOf, monitor } from './fuzz/monitor.ts'
import { badCredentials, goodCredential } from './fuzz/mutations.ts'
import { type FuzzRequest, plainRequest } from './fuzz/requests.ts'
import { fuzz } from './fuzz/run.ts'

/** A small part of what `npm run prove -- fuzz` sends. */
const SIZE = { seed: SEED, requests: isFullSize ? 20_000 : 3_000, concurrency: 16 }
const FRAMES = { seed: SEED, frames: isFullSize ? 5_000 : 1_000, concurrency: 24 }
/** Includes the warm-up. A leak per request would be more. */
const GROWTH_MIB = 96
/** A small heap, because a process with free memory delays garbage collection. */
const HEAP_MIB = 256
const PATIENCE_MS = 600_000

let database: TestDatabase
let service: ServiceProcess
let receiver: WebhookReceiver
let watching: ReturnType<typeof monitor>
beforeAll(async () => {
  database = await createTestDatabase()
  receiver = await WebhookReceiver.start()
  service = await startServiceProcess({
    ...instanceSettings(database.url, REDIS),
    ...WEBHOOK_SETTINGS,
    BOARD_WAIT_MS: '12000',
    ADMIN_API: 'on',
    BOARD_CACHE_BYTES: '4194304',
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
  })
  watching = monitor([service])
}, 180_000)
afterAll(async () => {
  await endProcesses()
  await receiver?.close()
  await database?.drop()
})

test('[FUZZ-1] [FUZZ-2] responses to all kinds of requests match the OpenAPI document', {
  timeout: PATIENCE_MS,
}, async () => {
  const operations = operationsOf(readOpenApi())
  const size = { ...SIZE, receiverUrl: receiver.url }
  const { violations, operations: asked, outcomes, mutations, requests } = await fuzz(service.baseUrl, operations, size)
  expect(violations, REPEAT).toEqual([])
  expect(requests).toBeGreaterThanOrEqual(SIZE.requests)
  expect([...outcomes.keys()].filter((status) => /^5(?!03)/.test(status))).toEqual([])
  const succeeded = operations.filter(({ id }) => (asked.get(id)?.succeeded ?? 0) > 0)
  expect(succeeded.filter(isAdministration)).toEqual([])
  // The fuzzer does not know the secret of a link.
  const needsLink = ({ id }: { id: string }) =>
    ['readInvitation', 'acceptInvitation', 'resetPasswordByLink'].includes(id)
  expect(succeeded.filter(needsLink)).toEqual([])
  if (!isFullSize) return
  // All operations were called, and most of them successfully.
  expect(operations.filter(({ id }) => !asked.has(id)).map(({ id }) => id)).toEqual([])
  const others = operations.filter((one) => !isAdministration(one) && !needsLink(one))
  expect(succeeded.length).toBeGreaterThan(others.length - 5)
  expect(receiver.types).toContain('card.created')
  expect([...mutations.keys()].sort()).toEqual([
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

test('[FUZZ-3] all kinds of frames end with the right close code, and other clients miss nothing', {
  timeout: PATIENCE_MS,
}, async () => {
  const { token } = await newAccount(service.baseUrl)
  const fuzzed = await fuzzFrames(new Client(service.baseUrl, token), FRAMES)
  expect(fuzzed.violations, REPEAT).toEqual([])
  expect(fuzzed.frames).toBeGreaterThanOrEqual(FRAMES.frames)
  if (!isFullSize) return
  expect([...fuzzed.ends.keys()]).toEqual(expect.arrayContaining(['1000', '1002', '1007', '1008', '1009']))
})

test('[FUZZ-4] meanwhile the service stayed up, logged no error and did not grow', () => {
  const { complaints, growth } = watching.end()
  expect(complaints).toEqual([])
  expect(growth[0]?.growth).toBeLessThan(GROWTH_MIB)
})

describe('the evaluation', () => {
  const TAME = { seed: 7, requests: 500, concurrency: 8, isValidOnly: true }
  const idsIn = (violations: string[], sentence: RegExp) =>
    new Set(violations.filter((line) => sentence.test(line)).map((line) => /request -?\d+, (\w+):/.exec(line)?.[1]))

  test('[FUZZ-1] finds each tampered response, and no other', { timeout: PATIENCE_MS }, async () => {
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
    await using proxy = await startTamperingProxy(service.baseUrl, {
      replaceResponse: ({ method, path }, { status, headers, content }) => {
        const spoil = spoils[`${method} ${path}`]
        if (!spoil) return { status, headers, content }
        const text = spoil.content?.(content.toString()) ?? content.toString()
        const type = spoil.type ? { 'content-type': spoil.type } : json
        return { status: spoil.status ?? status, headers: { ...headers, ...type }, content: Buffer.from(text) }
      },
    })
    const { violations } = await fuzz(proxy.baseUrl, operationsOf(readOpenApi()), TAME)
    const expected: [RegExp, string][] = [
      [/500: a defect/, 'listBoards'],
      [/403 is no JSON/, 'findUsers'],
      [/403 has no string detail/, 'getMe'],
      [/418 has no code/, 'getHealth'],
      [/additionalProp/, 'refresh'],
      [/the body is no JSON/, 'createTicket'],
      [/rejected as invalid/, 'logout'],
    ]
    for (const [sentence, id] of expected) expect(idsIn(violations, sentence)).toEqual(new Set([id]))
    expect(idsIn(violations, /./)).toEqual(new Set(expected.map(([, id]) => id)))
  })

  test('[FUZZ-1] finds a difference between the document and the service', { timeout: PATIENCE_MS }, async () => {
    const document = readOpenApi() as Published & { components: { schemas: Record<string, object> } }
    const label = document.components.schemas['Label']
    if (!label?.properties?.['name']) throw new Error('There is no label in the document')
    label.properties['name'] = { type: 'integer' }
    const { get } = document.paths['/boards/{board_id}'] ?? {}
    if (!get) throw new Error('There is no board in the document')
    delete get.responses['200']
    const { violations } = await fuzz(service.baseUrl, operationsOf(document), TAME)
    expect(idsIn(violations, /200 is not documented/)).toEqual(new Set(['getBoard']))
    expect(idsIn(violations, /must be integer/)).toContain('createLabel')
  })

  describe('on accepted requests', () => {
    const operations = operationsOf(readOpenApi())
    const operationOf = (id: string) => {
      const operation = operations.find((each) => each.id === id)
      if (!operation) throw new Error(`There is no ${id} in the document`)
      return operation
    }
    const ID = '00000000-0000-4000-8000-00000000abcd'
    const somebody = { id: ID, token: 'head.claims.sign', email: 'x@example.com', password: '' }
    /** A valid request for an operation, except for the given parts. */
    const ask = (id: string, bent: Partial<FuzzRequest> = {}, fields?: object): FuzzRequest => ({
      ...plainRequest(operationOf(id), somebody, { board_id: ID, card_id: ID }, fields),
      ...bent,
    })
    const complaintsOf = (request: FuzzRequest, status = 200) =>
      checkResponse(request, { status, headers: new Map([['x-request-id', 'x']]), bytes: Buffer.alloc(0) }, operations)
        .violations

    test('[FUZZ-2] finds a JSON body that the document does not allow', () => {
      const sentence = 'a body that does not fit the document was accepted with 201'
      const complaints = (fields: object) => complaintsOf(ask('createLabel', {}, fields), 201)
      for (const fields of [{ name: 'x'.repeat(256) }, { name: null }, {}, { name: 'x', color: 5 }, { name: ' ' }])
        expect(complaints(fields)).toContain(sentence)
      expect(complaints([{ name: 'x' }])).toContain(sentence)
      expect(complaints({ name: 'x', color: '', unknown: 5 })).not.toContain(sentence)
    })

    test('[FUZZ-2] finds a form that the document does not allow', () => {
      const sentence = 'a body that does not fit the document was accepted with 200'
      const type = 'application/x-www-form-urlencoded'
      const complaints = (form: string, sent = type) =>
        complaintsOf(ask('login', { body: Buffer.from(form), headers: [['Content-Type', sent]] }))
      const good = 'username=x%40example.com&password=x'
      const bad = ['', 'username=x', `${good}&password=y`, `${good}&cookie=perhaps`, `${good}%00`, '{}']
      for (const form of bad) expect(complaints(form)).toContain(sentence)
      expect(complaints(good, 'application/json')).toContain(sentence)
      for (const form of [good, `${good}&cookie=TRUE`, `${good}&unknown=x&unknown=y`])
        expect(complaints(form)).not.toContain(sentence)
    })

    test('[FUZZ-2] finds a form with no file, with two files, or with an invalid id', () => {
      const sentence = 'a body that does not fit the document was accepted with 201'
      const upload = ask('createAttachment', {}, { id: ID })
      const form = upload.body?.toString('latin1') ?? ''
      const complaints = (text: string) => complaintsOf({ ...upload, body: Buffer.from(text, 'latin1') }, 201)
      expect(complaints(form)).not.toContain(sentence)
      expect(complaints(`${form}epilogue`)).not.toContain(sentence)
      for (const text of ['', form.replace('name="file"; filename', 'x'), form.replace(ID, 'x'), form.slice(0, -6)])
        expect(complaints(text)).toContain(sentence)
      // All of it twice.
      expect(complaints(form.replace(/--\r\n$/, form.slice(form.indexOf('\r\n'))))).toContain(sentence)
      expect(complaintsOf({ ...upload, headers: [['Content-Type', 'multipart/mixed']] }, 201)).toContain(sentence)
    })

    test('[FUZZ-2] finds a query and a header that the document does not allow', () => {
      const inQuery = (query: string) => complaintsOf(ask('findCards', { target: `/boards/${ID}/cards?${query}` }))
      const sentence = 'a query that does not fit the document was accepted with 200'
      const bad = ['limit=0', 'limit=201', 'limit=', 'limit', 'limit=1e1', 'limit=5&limit=5', 'label=x', 'search=%00']
      for (const query of bad) expect(inQuery(query)).toContain(sentence)
      for (const query of ['', '&&&', 'limit=5', 'search=', 'limit[]=0', '?limit=0', '=0', `label=${ID.toUpperCase()}`])
        expect(inQuery(query)).not.toContain(sentence)
      const withKey = (key: string) => complaintsOf(ask('deleteBoard', { headers: [['Idempotency-Key', key]] }), 204)
      for (const key of ['', 'x'.repeat(256)])
        expect(withKey(key)).toContain('a header that does not fit the document was accepted with 204')
      expect(withKey('x')).toEqual(['204 has no board-position'])
    })

    test('[FUZZ-2] finds a success at an unknown address, and checks another operation by its own schema', () => {
      const nowhere = '200 is of no operation of the document'
      const at = (target: string, method = 'GET') => complaintsOf(ask('getHealth', { target, method }))
      for (const target of ['/healthy', '/health//', '/api/api/health', '/HEALTH', '//x/health', '/boards/x', '/'])
        expect(at(target)).toEqual([nowhere])
      for (const method of ['POST', 'QUERY', 'TRACE', 'OPTIONS']) expect(at('/health', method)).toEqual([nowhere])
      for (const target of ['/health', '/api/health/', 'http://x/health', '/health#x', '/health?x'])
        expect(at(target, 'HEAD')).toEqual(['200 has no cache-control'])
      expect(at(`/boards/%30${ID.slice(1).toUpperCase()}`, 'HEAD')).toEqual([
        '200 has no etag',
        '200 has no cache-control',
        '200 has no board-position',
      ])
      expect(complaintsOf(ask('getHealth', { target: `/boards/${ID}`, method: 'DELETE' }))).toEqual([
        '200 is not documented',
      ])
      expect(complaintsOf(ask('getHealth', { target: '/boards', method: 'POST' }), 201)).toContain(
        'a body that does not fit the document was accepted with 201',
      )
      // The root redirects to the pages, and preflight requests are answered everywhere.
      for (const target of ['/?x', '*']) expect(complaintsOf(ask('getHealth', { target }), 302)).toEqual([])
      expect(complaintsOf(ask('getHealth', { target: '//evil.example/health' }), 302)).toHaveLength(1)
      expect(complaintsOf(ask('getHealth', { target: '/x', method: 'OPTIONS' }), 204)).toEqual([])
    })

    test('[FUZZ-2] finds that a bad credential was accepted, and never generates a valid one by mistake', () => {
      const bent = { mutations: new Set(['credentials'] as const) }
      expect(complaintsOf(ask('logout', bent))).toEqual(['a bad credential was accepted with 200'])
      expect(complaintsOf(ask('getMe', { ...bent, method: 'HEAD', framing: 'old' }), 304)).toHaveLength(1)
      const sentence = expect.stringContaining('bad credential')
      expect(complaintsOf(ask('logout'))).not.toContainEqual(sentence)
      expect(complaintsOf(ask('getHealth', bent))).not.toContainEqual(sentence)
      const good = /^Bearer +head\.claims\.sign$/i
      for (let seed = 0; seed < 500; seed++) {
        for (const [, value] of badCredentials(seeded(seed), somebody.token)) expect(value).not.toMatch(good)
        expect(goodCredential(seeded(seed), somebody.token)[1].replace('svc_auth=', 'Bearer ')).toMatch(good)
      }
    })
  })

  test('[FUZZ-3] finds a wrong code, a broken connection, a plain-text rejection, an accepted bad handshake and an unknown message', () => {
    const ending = { code: 1000, refusal: undefined, messages: [], garbled: [] } as const
    const sent = [{ what: 'too long', codes: [1009] }]
    const end = { ...ending, messages: [], garbled: [] }
    expect(checkClose({ ...end, code: 1009 }, sent)).toEqual([])
    for (const code of [1000, 1006, 'cut', 'open'] as const) expect(checkClose({ ...end, code }, sent)).toHaveLength(1)
    expect(checkClose({ ...end, code: 1002 }, [{ what: 'a message', codes: [] }])).toHaveLength(1)
    expect(checkHandshake({ ...end, code: 'cut' }, false)).toHaveLength(1)
    expect(checkHandshake({ ...end, refusal: { status: 400, text: 'Bad Request' } }, false)).toHaveLength(1)
    expect(checkHandshake({ ...end, refusal: { status: 400, text: '{"detail":"No."}' } }, true)).toEqual([])
    const letIn = { ...end, messages: [{ type: 'hello', epoch: 1, seq: 1 }] }
    expect(checkHandshake(letIn, true)).toEqual(['a bad handshake was let in'])
    expect(checkHandshake({ ...letIn, code: 1008 }, true)).toHaveLength(1)
    expect(checkHandshake({ ...end, code: 'open' }, true)).toHaveLength(1)
    expect(checkHandshake({ ...end, code: 1008 }, true)).toEqual([])
    expect(checkHandshake(letIn, false)).toEqual([])
    expect(checkHandshake({ ...letIn, code: 'open' }, false)).toEqual([])
    const documented = readMessages()
    const joined = { type: 'user_joined', user_id: '00000000-0000-4000-8000-000000000000', username: 'x' }
    expect(checkMessage(documented, joined)).toEqual([])
    expect(checkMessage(documented, { ...joined, email: 'x' })).toHaveLength(1)
    expect(checkMessage(documented, { ...joined, type: 'user_danced' })).toHaveLength(1)
  })

  test('[FUZZ-4] finds an error in the log, output that is not a log line, and memory growth', () => {
    expect(errorsIn('{"level":"warn","msg":"slow"}\n')).toEqual([])
    expect(errorsIn('{"level":"error","msg":"broken"}\n')).toHaveLength(1)
    expect(errorsIn('{"level":"warn","msg":"Unhandled promise rejection"}\nTypeError: x\n')).toHaveLength(2)
    expect(growthOf(Array.from({ length: 100 }, (_, i) => 200 + i)).growth).toBeGreaterThan(75)
    expect(growthOf(Array.from({ length: 100 }, (_, i) => 200 + (i % 10))).growth).toBe(0)
  })
})
