import { operations } from '@lockstep/contract'
import type { Operation } from '@lockstep/contract/operation'
import { type Failure, sendingOf } from '@lockstep/testing/client'
import { furnish, type Known, lastChange, newTargets, validInput } from '@lockstep/testing/input-generator'
import { PASSWORD, startService, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'

const all = Object.entries<Operation>(operations)
const STRICT = { prefer: 'handling=strict' }

let service: TestService
let user: TestUser
let known: Known
beforeAll(async () => {
  service = await startService({ ADMIN_API: 'on' })
  user = await service.user()
  await service.sql.query('update users set is_superuser = true where id = $1', [user.id])
  const inputs = { user_id: user.id, password: PASSWORD, current_password: PASSWORD, new_password: PASSWORD }
  known = { ...(await furnish(user.api, inputs)), ...(await newTargets(service)) }
})
afterAll(() => service.stop())

const unknown = (field: string) => ({ code: 'unknown_field', errors: [{ field }] })

test.each(all)(
  '[REQ-26] %s rejects unknown fields of the query and the body, and changes nothing',
  async (name, operation) => {
    const { method, body_type } = operation
    const { path, body } = validInput(name, operation, known)
    const before = await lastChange(service)
    const sending = sendingOf(body_type, body)
    const inQuery = await user.api.request(method, `${path}?surprise=1`, { ...sending, headers: STRICT })
    expect([inQuery.status, inQuery.body]).toMatchObject([422, unknown('surprise')])
    expect(inQuery.headers.get('preference-applied')).toBe('handling=strict')
    if (body !== undefined) {
      const more = sendingOf(body_type, { ...(body as object), surprise: 'x' })
      const inBody = await user.api.request(method, path, { ...more, headers: STRICT })
      expect([inBody.status, inBody.body]).toMatchObject([422, unknown('surprise')])
    }
    expect(await lastChange(service)).toBe(before)
  },
)

const create = (more: object, headers: Record<string, string>, query = '') =>
  user.api.request('POST', `/boards${query}`, { json: { title: 'Plan', ...more }, headers })

test('[REQ-26] without the preference unknown fields are ignored', async () => {
  const headersOf: Record<string, string>[] = [{}, { prefer: 'handling=lenient' }, { prefer: 'return=minimal' }]
  for (const headers of headersOf) {
    const { status, headers: received } = await create({ surprise: 1 }, headers, '?surprise=1')
    expect([headers, status, received.get('preference-applied')]).toEqual([headers, 201, null])
  }
})

test.each(['handling=strict', 'Handling = "strict"', 'respond-async, handling=strict; wait=10'])(
  '[REQ-26] %s is understood, and applied to valid requests too',
  async (prefer) => {
    const { status, headers } = await create({}, { prefer })
    expect([status, headers.get('preference-applied')]).toEqual([201, 'handling=strict'])
    expect((await create({ surprise: 1 }, { prefer })).status).toBe(422)
  },
)

test('[REQ-26] every unknown field is named, up to 50, and long names are cut', async () => {
  const both = await create({ a: 1, b: { c: 1 } }, STRICT, '?d=1')
  expect((both.body as Failure).errors).toEqual([
    { field: 'd', message: 'is not a query parameter of this operation' },
    { field: 'a', message: 'is not a field of this operation' },
    { field: 'b', message: 'is not a field of this operation' },
  ])
  const many = await create(Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x${i}`, 0])), STRICT)
  expect((many.body as Failure).errors).toHaveLength(50)
  const long = await create({ ['x'.repeat(5_000)]: 0 }, STRICT)
  expect((long.body as Failure).errors).toMatchObject([{ field: 'x'.repeat(100) }])
})

test('[REQ-26] a retry with an idempotency key gets the stored response', async () => {
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const first = await create({ surprise: 1 }, headers)
  const retry = await create({ surprise: 1 }, { ...headers, ...STRICT })
  expect([retry.status, retry.text, retry.headers.get('preference-applied')]).toEqual([201, first.text, null])
})

test('[REQ-27] a created resource that can be read has a Location, which works', async () => {
  const created = await create({}, {})
  const { id: board_id } = created.body as { id: string }
  expect(created.headers.get('location')).toBe(`/boards/${board_id}`)
  const params = {
    board_id,
    column_id: (await user.api.call('createColumn', { params: { board_id }, body: { title: 'A' } })).id,
  }
  const body = { id: crypto.randomUUID(), title: 'Card' }
  const path = `/api/boards/${board_id}/columns/${params.column_id}/cards`
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const card = await user.api.request('POST', path, { json: body, headers })
  expect(card.headers.get('location')).toBe(`/api/cards/${body.id}`)
  expect((await user.api.request('GET', `/api/cards/${body.id}`)).status).toBe(200)
  const replayed = await user.api.request('POST', path, { json: body, headers })
  expect([replayed.headers.get('idempotent-replayed'), replayed.headers.get('location')]).toEqual([
    'true',
    `/api/cards/${body.id}`,
  ])
  const file = await user.api.send('createAttachment', {
    params: { card_id: body.id },
    body: { file: new Blob(['x']) },
  })
  const at = file.headers.get('location') ?? ''
  expect([at, (await user.api.request('GET', at)).text]).toEqual([
    `/attachments/${(file.body as { id: string }).id}`,
    'x',
  ])
  const label = await user.api.send('createLabel', { params: { board_id }, body: { name: 'Label' } })
  expect([label.status, label.headers.get('location')]).toEqual([201, null])
})
