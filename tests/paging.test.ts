import { randomUUID } from 'node:crypto'
import { operations } from '@lockstep/contract'
import { isList, isPaged, type Operation } from '@lockstep/contract/operation'
import { startService, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeWorld, type PagedName, recipes, type World } from './paging/recipes.ts'
import { complaintsOf, type Walk } from './paging/walk.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ ADMIN_API: 'on' })
})
afterAll(() => service.stop())

const lists = Object.entries<Operation>(operations).filter(([, operation]) => isList(operation))
const paged = lists.filter(([, operation]) => isPaged(operation)).map(([name]) => name as PagedName)

const ELEMENTS = 9
const PAGE = 2
type Element = Record<'id' | 'user_id' | 'label_id' | 'changed_at', string> & { seq: number }

/** What identifies an element. A changed item of the inbox is a new one: it moves to the top, as documented. */
const keyOf = (name: PagedName, { id, user_id, label_id, seq, changed_at }: Element): string =>
  name === 'listInbox' ? `${id} ${changed_at}` : String(seq ?? id ?? label_id ?? user_id)

async function walkOf(name: PagedName, world: World): Promise<Walk> {
  const { params, add, remove, change } = await recipes[name](world)
  for (let i = 0; i < ELEMENTS; i++) await add()
  const path = operations[name].path.replaceAll(/\{(\w+)\}/g, (_, key: string) => params?.[key] as string)
  const read = async (url: string) => {
    const { status, body, headers } = await world.api.request('GET', url)
    expect([url, status]).toEqual([url, 200])
    const next = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
    return { keys: (body as Element[]).map((element) => keyOf(name, element)), next }
  }
  return {
    readPage: (next) => read(next ?? `${path}?limit=${PAGE}`),
    async readAll() {
      const all: string[] = []
      for (let url: string | undefined = `${path}?limit=100`; url; ) {
        const page = await read(url)
        all.push(...page.keys)
        url = page.next
      }
      return all
    },
    /** Removes four elements, from both ends, so that the read and the unread part of the list change. */
    async write(step, before) {
      await add()
      const removable = name === 'listMembers' ? before.filter((key) => key !== world.board.owner.id) : before
      const victim = step % 2 === 0 ? removable[step / 2] : removable.at(-(step + 1) / 2)
      if (victim !== undefined && step < 4) await remove?.(victim)
      const changed = before[Math.floor(before.length / 2) + (step % 3) - 1]
      if (changed !== undefined) await change?.(changed)
    },
  }
}

describe('every list', () => {
  test('[PAGE-1] takes cursor and limit, except the search for users', () => {
    expect(lists.map(([name]) => name).filter((name) => !paged.includes(name as PagedName))).toEqual(['findUsers'])
    expect(operations.findUsers.is_unpaged).toBe(true)
    for (const [name, { query }] of lists.filter(([, operation]) => isPaged(operation)))
      expect([name, Object.keys(query?.properties ?? {})]).toEqual([name, expect.arrayContaining(['cursor', 'limit'])])
    expect(Object.keys(recipes).sort()).toEqual([...paged].sort())
  })

  test.each(paged)('[PAGE-2] %s: following Link while others write misses and repeats nothing', async (name) => {
    const walk = await walkOf(name, await makeWorld(service))
    expect(await complaintsOf(walk)).toEqual([])
  })

  test.each(paged)('[PAGE-3] %s: an invalid cursor or limit is 422', async (name) => {
    const { board, api, card_id } = await makeWorld(service)
    const known: Record<string, string> = {
      ...{ board_id: board.id, card_id, user_id: board.owner.id },
      webhook_id: randomUUID(),
    }
    const path = operations[name].path.replaceAll(/\{(\w+)\}/g, (_, key: string) => known[key] as string)
    for (const query of ['cursor=x', 'cursor=', 'cursor=1_x', 'limit=0', 'limit=501', 'limit=x'])
      expect([query, (await api.request('GET', `${path}?${query}`)).body]).toMatchObject([
        query,
        { code: 'invalid_input', errors: [{ field: query.split('=')[0] }] },
      ])
  })
})

test('[PAGE-4] lists that the specification returns whole are whole without limit, and paged with a cursor alone', async () => {
  const world = await makeWorld(service)
  const params = { board_id: world.board.id }
  for (let i = 0; i < 102; i++) await world.api.call('createLabel', { params, body: { name: `Label ${i}` } })
  const whole = await world.api.send('listLabels', { params })
  expect([(whole.body as unknown[]).length, whole.headers.get('link')]).toEqual([102, null])
  const first = await world.api.send('listLabels', { params, query: { limit: 1 } })
  const [, cursor = ''] = /cursor=(\w[^&>]+)/.exec(first.headers.get('link') ?? '') ?? []
  const rest = await world.api.send('listLabels', { params, query: { cursor } })
  expect((rest.body as unknown[]).length).toBe(100)
  expect(rest.headers.get('link')).toContain('limit=100')
})

test('[PAGE-5] deprecated parameters still work, and the response says that they are deprecated', async () => {
  const { api, board } = await makeWorld(service)
  const params = { board_id: board.id }
  const at = { ...params, column_id: board.columns[0].id }
  for (let i = 0; i < 3; i++) await api.call('createCard', { params: at, body: { title: `Card ${i}` } })
  const all = await api.call('findCards', { params })
  const old = await api.send('findCards', { params, query: { limit: 2, after: all[0]?.id as string } })
  expect(old.body).toMatchObject([{ id: all[1]?.id }, { id: all[2]?.id }])
  expect(old.headers.get('deprecation')).toBe('@1794873600')
  const [, next = ''] = /<(.+)>; rel="next"/.exec(old.headers.get('link') ?? '') ?? []
  expect(next).not.toContain('after=')
  const last = await api.request('GET', next)
  expect([last.body, last.headers.get('deprecation')]).toMatchObject([[{ id: all[3]?.id }], null])
})

test('[PAGE-2] the walk notices paging by offset, and a list that is ordered by what changes', async () => {
  const items = () => Array.from({ length: 9 }, (_, i) => ({ key: `k${i}`, rank: i }))
  const fake = (change: (list: ReturnType<typeof items>, step: number) => void): Walk => {
    const list = items()
    const sorted = () => list.toSorted((a, b) => a.rank - b.rank).map(({ key }) => key)
    return {
      async readPage(next) {
        const offset = Number(next ?? 0)
        const keys = sorted().slice(offset, offset + 2)
        return { keys, next: offset + 2 < list.length ? String(offset + 2) : undefined }
      },
      readAll: async () => sorted(),
      write: async (step) => change(list, step),
    }
  }
  const removesFirst = fake((list, step) => void (step === 1 && list.shift()))
  const addsFirst = fake((list, step) => void (step === 1 && list.push({ key: 'new', rank: -1 })))
  const movesLast = fake((list, step) => {
    if (step === 1 && list[8]) list[8].rank = -1
  })
  expect(await complaintsOf(removesFirst)).toEqual([expect.stringContaining('missed')])
  expect(await complaintsOf(addsFirst)).toEqual([expect.stringContaining('repeated')])
  expect(await complaintsOf(movesLast)).toEqual(expect.arrayContaining([expect.stringContaining('missed')]))
})
