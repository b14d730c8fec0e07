import { readFileSync } from 'node:fs'
import { operations } from '@lockstep/contract'
import { responseHeaders } from '@lockstep/contract/headers'
import { Client, headerComplaints } from '@lockstep/testing/client'
import { checkClosed } from '@lockstep/testing/closed-schema'
import { PASSWORD, startService, type TestService } from '@lockstep/testing/service'
import { WebhookReceiver } from '@lockstep/testing/webhook-receiver'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findSecrets } from '../scripts/secrets.ts'
import { Recorder } from './api-examples/recorder.ts'
import { callEverything } from './api-examples/scenario.ts'
import { checkDocumented } from './documented-response.ts'
import { type DocumentedOperation, operationsOf, readMessages, readOpenApi } from './fuzz/document.ts'

const FILE = 'packages/contract/src/examples.gen.json'
const names = Object.keys(operations)
const documented = operationsOf(readOpenApi())

let service: TestService
const recorder = new Recorder()
beforeAll(async () => {
  service = await startService({ ADMIN_API: 'on', USER_SEARCH: 'open' })
  const receiver = await WebhookReceiver.start()
  await callEverything(recorder, service, receiver)
  await receiver.close()
  await rejections()
})
afterAll(() => service?.stop())

/** A response with 429 and one with 503: their headers are the same for every operation. */
async function rejections() {
  const limited = await startService({ RATE_LIMITS: 'on', REDIS_URL: '', MAX_REGISTRATIONS_PER_HOUR: '1' })
  for (const username of ['first', 'second']) {
    const body = { email: `${username}@example.com`, username, password: PASSWORD }
    await recorder.send(limited.anybody, 'register', { body })
  }
  await limited.stop()
  const lost = await startService({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/lost' })
  await recorder.send(lost.anybody, 'getHealth', {})
  await lost.stop()
}

describe('examples', () => {
  test('[APIDOC-1] are what the service returns; `--update` records them again', async () => {
    const { examples, messages } = recorder
    expect(names.filter((name) => !examples[name])).toEqual([])
    const ordered = Object.fromEntries(names.map((name) => [name, examples[name]]))
    const text = `${JSON.stringify({ operations: ordered, messages }, null, 2)}\n`
    await expect(text).toMatchFileSnapshot(`../${FILE}`)
  })

  test('[APIDOC-1] every request body, success and message has one, and it follows its schema', () => {
    const document = JSON.parse(readFileSync('docs/api/openapi.json', 'utf8')) as Document
    expect(withoutExample(document)).toEqual([])
    expect(invalidExamples(document)).toBe('')
    const { messages } = JSON.parse(readFileSync('docs/api/asyncapi.json', 'utf8')).components as {
      messages: Record<string, { examples?: { payload: unknown }[] }>
    }
    const kinds = readMessages()
    for (const [kind, { examples = [] }] of Object.entries(messages)) {
      expect([kind, examples.length]).toEqual([kind, 1])
      expect([kind, kinds.get(kind)?.complaint(examples[0]?.payload)]).toEqual([kind, undefined])
    }
  })

  test('[APIDOC-1] a missing and an invalid example are found', () => {
    const document = JSON.parse(readFileSync('docs/api/openapi.json', 'utf8')) as Document
    const { post, get } = document.paths['/boards'] as Record<string, Described>
    delete mediaOf(post?.requestBody)?.example
    const media = mediaOf(get?.responses['200']) as Media
    media.example = [{ id: 5 }]
    expect(withoutExample(document)).toEqual(['createBoard request'])
    expect(invalidExamples(document)).toMatch(/"instancePath":"\/listBoards 200\/0\/id"/)
  })

  test('[APIDOC-1] contain no secret', () => {
    expect(findSecrets(FILE, readFileSync(FILE, 'utf8'))).toEqual([])
  })
})

describe('headers', () => {
  test('[APIDOC-2] every documented header is sent: with every success, and with some problem of the status', () => {
    expect(unseen(documented, recorder.seen)).toEqual([])
  })

  test('[APIDOC-2] a header that is never sent is found', () => {
    const [first] = documented as [DocumentedOperation]
    const extra = (status: number, name: string) => {
      const response = first.responses.get(status) as NonNullable<ReturnType<typeof first.responses.get>>
      const headers = new Map([...response.headers, [name, false]])
      return { ...first, responses: new Map([[status, { ...response, headers }]]) }
    }
    const [success, problem] = [extra(201, 'sunset'), extra(429, 'sunset')]
    expect(unseen([success, problem], recorder.seen)).toEqual(['register 201 sunset', 'register 429 sunset'])
  })

  test('[APIDOC-2] a header that is not documented is found, and one that is missing', () => {
    const sent = { 'x-request-id': 'x', etag: '"x"', 'cache-control': 'private, no-cache' }
    const find = (headers: Record<string, string>) => {
      const response = { status: 304, headers, content: Buffer.alloc(0) }
      return [
        headerComplaints(operations.getMe, 304, new Headers(headers)),
        checkDocumented(documented, { method: 'GET', path: '/auth/me' }, response),
      ]
    }
    expect(find(sent)).toEqual([[], []])
    expect(find({ ...sent, sunset: 'x' })).toEqual([
      ['sunset is not in the contract'],
      ['getMe: 304 has sunset, which is not documented'],
    ])
    const { etag: _, ...untagged } = sent
    expect(find(untagged)).toEqual([['etag is missing'], ['getMe: 304 has no etag']])
  })

  test('[APIDOC-9] an error must not be cached, and has no header of a result', () => {
    const has = (name: string) => recorder.seen.has(`getAttachment 416 ${name}`)
    expect(['content-range', 'cache-control', 'etag'].map(has)).toEqual([true, true, false])
  })

  test('[APIDOC-2] pages of other origins may read every header that programs need', async () => {
    const { headers } = await new Client(service.baseUrl).request('GET', '/health')
    const exposed = headers.get('access-control-expose-headers')?.split(', ') ?? []
    // Browsers may read `Cache-Control`, and must not read cookies; downloads are not read by scripts.
    const others = ['Cache-Control', 'Set-Cookie', 'Content-Disposition', 'Accept-Ranges', 'Content-Range']
    const wanted = Object.keys(responseHeaders).filter((name) => !others.includes(name) && name !== 'WWW-Authenticate')
    expect(exposed.toSorted()).toEqual(wanted.toSorted())
  })
})

test('[APIDOC-3] [HEALTH-1] the 503 of the health check is documented with its fields', async () => {
  const lost = await startService({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/lost' })
  const { status, headers, body } = await lost.anybody.send('getHealth', {})
  await lost.stop()
  expect(status).toBe(503)
  const find = (sent: object) =>
    checkDocumented(
      documented,
      { method: 'GET', path: '/health' },
      { status, headers: Object.fromEntries(headers), content: Buffer.from(JSON.stringify(sent)) },
    )
  const found = body as unknown as Record<string, unknown>
  expect(find(found)).toEqual([])
  for (const field of ['status', 'database', 'redis']) {
    const { [field]: _, ...rest } = found
    expect([field, find(rest)]).toEqual([field, [expect.stringMatching(/^getHealth: the body breaks the contract/)]])
  }
})

describe('problems', () => {
  const answer = (status: number, code: string) =>
    checkDocumented(
      documented,
      { method: 'GET', path: '/auth/me' },
      {
        status,
        headers: { 'content-type': 'application/json', 'x-request-id': 'x', 'cache-control': 'no-store' },
        content: Buffer.from(JSON.stringify({ detail: 'No.', code })),
      },
    )

  test('[APIDOC-3] every operation lists its codes by status, and another code is found', () => {
    expect(answer(403, 'token_scope')).toEqual([])
    expect(answer(403, 'not_a_member')).toEqual([
      'getMe: 403 not_a_member is not documented',
      expect.stringMatching(/^getMe: the body breaks the contract/),
    ])
    expect(answer(409, 'id_taken')).toEqual(['getMe: 409 is not documented'])
    for (const { id, responses } of documented)
      for (const [status, { codes }] of responses)
        expect([id, status, codes.size > 0]).toEqual([id, status, status >= 400])
  })
})

interface Media {
  schema: object
  example?: unknown
}
interface Content {
  content?: Record<string, Media>
}
interface Described {
  operationId: string
  requestBody?: Content
  responses: Record<string, Content>
}
interface Document {
  paths: Record<string, Record<string, Described>>
  webhooks: Record<string, { post: Described }>
  components: object
}
const mediaOf = (content: Content | undefined) => Object.values(content?.content ?? {})[0]

/** The bodies of requests, successes and webhooks, by name. */
function bodiesOf({ paths, webhooks }: Document): [name: string, media: Media][] {
  const described = [
    ...Object.values(paths).flatMap(Object.values<Described>),
    ...Object.values(webhooks).map((w) => w.post),
  ]
  return described.flatMap(({ operationId, requestBody, responses }) => {
    const successes = Object.entries(responses).filter(([status]) => Number(status) < 300)
    const all = [['request', requestBody] as const, ...successes]
    return all.flatMap(([name, content]) => {
      const media = mediaOf(content)
      return media ? [[`${operationId} ${name}`, media] as [string, Media]] : []
    })
  })
}

const withoutExample = (document: Document) =>
  bodiesOf(document)
    .filter(([, media]) => media.example === undefined)
    .map(([name]) => name)

/** The errors of all examples, by name. One schema for all, because each would be compiled with all components. */
function invalidExamples(document: Document): string {
  const bodies = bodiesOf(document).filter(([, { example }]) => example !== undefined)
  const schemas = Object.fromEntries(bodies.map(([name, { schema }]) => [name, schema]))
  const examples = Object.fromEntries(bodies.map(([name, { example }]) => [name, example]))
  try {
    checkClosed({ properties: schemas, components: document.components }, examples, 'an example')
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

/** Headers of every problem. The run does not cause every status. */
const ofEveryProblem = ['x-request-id', 'cache-control']
/** Headers that depend on settings or on the request, with tests of their own (LIMIT-13, REQ-26, PAGE-5). */
const onDemand = ['ratelimit', 'ratelimit-policy', 'preference-applied', 'deprecation']

/** Documented headers that were not seen, as `<operation> <status> <header>`. */
function unseen(all: DocumentedOperation[], seen: ReadonlySet<string>): string[] {
  const withoutName = new Set([...seen].map((entry) => entry.replace(/^\S+ /, '')))
  const isSeen = (id: string, status: number, name: string) =>
    onDemand.includes(name) ||
    (status < 400
      ? seen.has(`${id} ${status} ${name}`)
      : ofEveryProblem.includes(name) || withoutName.has(`${status} ${name}`))
  return all.flatMap(({ id, responses }) =>
    [...responses].flatMap(([status, { headers }]) =>
      [...headers.keys()].filter((name) => !isSeen(id, status, name)).map((name) => `${id} ${status} ${name}`),
    ),
  )
}
