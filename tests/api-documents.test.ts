import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { events, operations } from '@lockstep/contract'
import { Components } from '@lockstep/contract/components'
import { parametersOf } from '@lockstep/contract/openapi'
import { type Operation, tokenRequirementOf } from '@lockstep/contract/operation'
import { PASSWORD, startService, type TestService } from '@lockstep/testing/service'
import { OUTPUT } from '@lockstep/testing/template-database'
import { type RulesetDefinition, Spectral } from '@stoplight/spectral-core'
import { asyncapi, oas } from '@stoplight/spectral-rulesets'
import { generateApi } from 'swagger-typescript-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const run = promisify(execFile)
const read = (name: string) => JSON.parse(readFileSync(`docs/api/${name}.json`, 'utf8'))
interface Described {
  operationId: string
  description?: string
  parameters?: { name: string; in: string; required?: boolean }[]
  requestBody?: { content: Record<string, { schema: { $ref?: string } }> }
  'x-token-scope'?: string
  'x-board-tokens'?: boolean
}
interface Document {
  paths: Record<string, Record<string, Described>>
  webhooks: Record<string, { post: Described }>
  components: { schemas: Record<string, object> }
}
const openApi = () => read('openapi') as Document
const described = () => Object.values(openApi().paths).flatMap(Object.values<Described>)

describe('linters', () => {
  /** The rules of Spectral that the documents do not follow, with the reason. */
  const exceptions = {
    openapi: [
      // Nobody knows the address of the operator of a service that anybody can run.
      'contact-properties',
      // OpenAPI 3.1 allows either a URL or an SPDX identifier.
      'license-url',
      // The name of an id says what it is.
      'oas3-parameter-description',
      // In the order of the guide: accounts and boards come before what is on them.
      'openapi-tags-alphabetical',
    ],
    asyncapi: [
      // One channel needs no tags.
      'asyncapi-3-tags',
      // As above.
      'asyncapi-info-contact-properties',
      // Redoc shows 3.0.
      'asyncapi-latest-version',
    ],
  }
  const rulesets = { openapi: oas, asyncapi }
  /** All findings of all rules, as `<rule> <path>`. */
  const lint = async (name: keyof typeof rulesets, document: object) => {
    const spectral = new Spectral()
    spectral.setRuleset({ extends: [[rulesets[name] as RulesetDefinition, 'all']] })
    const found = await spectral.run(document as Record<string, unknown>)
    return found.map(({ code, path }) => `${code} ${path.join('.')}`)
  }
  const rulesOf = (found: string[]) => [...new Set(found.map((line) => line.split(' ')[0] ?? ''))].sort()

  // Spectral takes seconds, and longer while other tests run.
  test.each(['openapi', 'asyncapi'] as const)(
    '[APIDOC-4] %s follows all other rules of Spectral',
    async (name) => {
      expect(rulesOf(await lint(name, read(name)))).toEqual(exceptions[name])
    },
    240_000,
  )

  test('[APIDOC-4] Spectral finds an operation without a description', async () => {
    const { paths, ...rest } = openApi()
    const live = paths['/live'] as { get: Described }
    const document = {
      ...rest,
      webhooks: {},
      components: {},
      paths: { '/live': { get: { ...live.get, description: '' } } },
    }
    expect(await lint('openapi', document)).toContain('operation-description paths./live.get.description')
  })
})

describe('the OpenAPI document', () => {
  test('[APIDOC-5] every operation has a description, and the scope that an access token needs', () => {
    for (const { operationId, description, ...rest } of described()) {
      const operation = (operations as Record<string, Operation>)[operationId] as Operation
      const required = tokenRequirementOf(operation)
      expect(description, operationId).toBeTruthy()
      const scope = operation.access === 'public' ? 'none' : required === 'never' ? required : required.scope
      expect([operationId, rest['x-token-scope']]).toEqual([operationId, scope])
      const board = operation.access === 'public' || required === 'never' ? undefined : required.board_tokens
      expect([operationId, rest['x-board-tokens']]).toEqual([operationId, board])
    }
  })

  test('[APIDOC-5] every request body has the name of its operation', () => {
    const { components } = openApi()
    for (const { operationId, requestBody } of described()) {
      const [media] = Object.values(requestBody?.content ?? {})
      if (!media) continue
      const name = `${operationId[0]?.toUpperCase()}${operationId.slice(1)}Body`
      expect(media.schema.$ref).toBe(`#/components/schemas/${name}`)
      expect(components.schemas).toHaveProperty(name)
    }
  })

  test('[APIDOC-5] a scalar that may be null has a list of types; an object that may be null has anyOf', () => {
    const components = new Components()
    const none = { type: 'null' }
    expect(components.reference({ anyOf: [{ type: 'string', maxLength: 5 }, none], default: 'x' })).toEqual({
      type: ['string', 'null'],
      maxLength: 5,
      default: 'x',
    })
    expect(components.reference({ anyOf: [{ enum: ['a', 'b'] }, none] })).toEqual({
      type: ['string', 'null'],
      enum: ['a', 'b', null],
    })
    const object = { anyOf: [{ type: 'object', properties: {} }, none] }
    expect(components.reference(object)).toEqual(object)
  })

  test('[APIDOC-5] a deprecated parameter is marked', () => {
    const q = { type: 'string', description: 'Use `search`.' }
    const query = { type: 'object', properties: { q } } as unknown as NonNullable<Operation['query']>
    expect(parametersOf('query', query, new Components(), { q: '2026-11-17' })).toEqual([
      {
        ...{ name: 'q', in: 'query', required: false, description: 'Use `search`.', deprecated: true },
        schema: { type: 'string' },
      },
    ])
  })

  test('[APIDOC-6] a webhook for each kind of event, the test and the resync, each with signed headers', () => {
    const { webhooks } = openApi()
    expect(Object.keys(webhooks)).toEqual([...Object.keys(events), 'webhook.test', 'webhook.resync'])
    for (const { post } of Object.values(webhooks))
      expect(post.parameters?.map(({ name, in: place, required }) => `${place} ${name} ${required}`)).toEqual(
        ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'lockstep-webhook'].map(
          (name) => `header ${name} true`,
        ),
      )
  })

  test('[APIDOC-7] the AsyncAPI document says which kinds a socket without numbers receives', () => {
    const { description } = read('asyncapi').info as { description: string }
    const [, plain = '', added = ''] =
      /receives these kinds and no others: (.*?)\. With[\s\S]*? also (.*?)\. Kinds/s.exec(description) ?? []
    const kinds = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, kind = '']) => kind)
    expect(kinds(plain)).toHaveLength(31)
    expect([...kinds(plain), ...kinds(added)].sort()).toEqual(Object.keys(events).sort())
  })
})

describe('generated clients', () => {
  const folder = new URL('generated/', OUTPUT).pathname
  let service: TestService
  beforeAll(async () => {
    mkdirSync(folder, { recursive: true })
    service = await startService()
  })
  afterAll(() => service?.stop())

  const compile = (file: string) => {
    const config = {
      compilerOptions: {
        ...{ strict: true, noEmit: true, module: 'nodenext', target: 'es2024', lib: ['es2024', 'dom', 'dom.iterable'] },
        ...{ types: [], skipLibCheck: true, allowImportingTsExtensions: true },
      },
      files: [file],
    }
    const name = join(folder, `${file}.json`)
    writeFileSync(name, JSON.stringify(config))
    try {
      return execFileSync('tsc', ['-p', name], { encoding: 'utf8' })
    } catch (error) {
      return (error as { stdout: string }).stdout
    }
  }

  test('[APIDOC-8] swagger-typescript-api makes a client that compiles', async () => {
    await generateApi({ input: 'docs/api/openapi.json', output: folder, fileName: 'swagger.ts', silent: true })
    expect(compile('swagger.ts')).toBe('')
  }, 120_000)

  test('[APIDOC-8] oazapfts makes a client that compiles, and ten calls with it work', async () => {
    execFileSync('oazapfts', ['docs/api/openapi.json', join(folder, 'oazapfts.ts')])
    writeFileSync(join(folder, 'calls.ts'), calls)
    expect(compile('calls.ts')).toBe('')
    const { owner, member } = await service.board()
    const args = [join(folder, 'calls.ts'), service.baseUrl, owner.email, PASSWORD, member.id]
    // Not synchronous: the service runs in this process.
    const { stdout } = await run(process.execPath, args)
    expect(JSON.parse(stdout)).toEqual({
      statuses: [200, 200, 201, 201, 201, 201, 200, 200, 200, 422, 409],
      assignees: [member.username],
      next: true,
      code: 'already_a_member',
    })
  }, 120_000)
})

/** A program that uses the generated client. It compiles only if the types of inputs, results and problems fit. */
const calls = `import * as api from './oazapfts.ts'

const [baseUrl = '', username = '', password = '', user_id = ''] = process.argv.slice(2)
declare const process: { argv: string[] }
api.defaults.baseUrl = baseUrl
const statuses: number[] = []
const keep = <R extends { status: number }>(response: R) => {
  statuses.push(response.status)
  return response
}
const login = keep(await api.login({ username, password }))
if (login.status !== 200) throw new Error(login.data.code)
api.defaults.headers = { authorization: 'Bearer ' + login.data.access_token }
keep(await api.getMe())
const board = keep(await api.createBoard({ title: 'Generated' }, { idempotencyKey: 'once' }))
if (board.status !== 201) throw new Error(board.data.code)
const boardId = board.data.id
keep(await api.inviteMember(boardId, { user_id }))
const column = keep(await api.createColumn(boardId, { title: 'To do', color: null }))
if (column.status !== 201) throw new Error(column.data.code)
const card = keep(await api.createCard(boardId, column.data.id, { title: 'One', due_on: '2026-08-01' }))
if (card.status !== 201) throw new Error(card.data.code)
const due: string | null = card.data.due_on
if (due !== '2026-08-01') throw new Error('due_on')
keep(await api.assignCard(card.data.id, { user_ids: [user_id] }))
const full = keep(await api.getBoard(boardId))
if (full.status !== 200) throw new Error('no board')
const events = keep(await api.listEvents(boardId, { limit: 1 }))
keep(await api.createColumn(boardId, { title: '' }))
const again = keep(await api.inviteMember(boardId, { user_id }))
const code: 'already_a_member' | 'board_archived' | string | undefined = again.status === 409 ? again.data.code : undefined
console.log(
  JSON.stringify({
    statuses,
    assignees: full.data.columns[0]?.cards[0]?.assignees.map((user) => user.username),
    next: events.headers.get('link')?.includes('rel="next"'),
    code,
  }),
)
`
