import { randomUUID } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { operations } from '@lockstep/contract'
import type { FullBoard } from '@lockstep/contract/boards'
import type { Card } from '@lockstep/contract/cards'
import type { Operation } from '@lockstep/contract/operation'
import type { ApiResponse, OperationName } from '@lockstep/testing/client'
import { recordEvents } from '@lockstep/testing/fold'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BoardVersion } from '../core/board-version.ts'
import { Database } from '../database/database.ts'
import { BoardCache } from './board-cache.ts'
import { readBoardVersion } from './board-queries.ts'

let service: TestService
let board: TestBoard
let card: Card
beforeAll(async () => {
  service = await startService()
  board = await service.board()
  card = await newCard(board)
})
afterAll(() => service.stop())

const newCard = ({ id: board_id, columns, owner }: TestBoard, title = 'Card') =>
  owner.api.call('createCard', { params: { board_id, column_id: columns[0].id }, body: { title } })
const etagOf = ({ headers }: ApiResponse) => headers.get('etag') ?? ''
const getBoard = ({ id, member }: TestBoard, headers: Record<string, string> = {}) =>
  member.api.send('getBoard', { params: { board_id: id }, headers })

describe('conditional reads', () => {
  test('[READ-1] a card is 304 until it changes, and again when it is as it was', async () => {
    const own = await newCard(board)
    const params = { card_id: own.id }
    const { api } = board.member
    const read = (etag?: string) => api.send('getCard', { params, ...(etag && { headers: { 'if-none-match': etag } }) })
    const first = etagOf(await read())
    expect(await read(first)).toMatchObject({ status: 304, text: '' })
    expect(await read(`"other", W/${first}`)).toMatchObject({ status: 304 })
    expect(await read('*')).toMatchObject({ status: 304 })
    expect(await read('"other"')).toMatchObject({ status: 200, body: own })
    const changed = await api.send('updateCard', { params, body: { title: 'Next' } })
    const second = await read(first)
    expect(second).toMatchObject({ status: 200, body: changed.body })
    expect(etagOf(second)).toBe(etagOf(changed))
    expect(etagOf(second)).not.toBe(first)
  })

  test('[READ-1] lists have an ETag too, which differs from that of other lists', async () => {
    const { api } = board.member
    const params = { board_id: board.id }
    const lists = ['listLabels', 'listMembers', 'listRules', 'countLabels', 'listEvents'] as const
    for (const name of lists) {
      const etag = etagOf(await api.send(name, { params }))
      expect(await api.send(name, { params, headers: { 'if-none-match': etag } })).toMatchObject({ status: 304 })
    }
    const before = etagOf(await api.send('listLabels', { params }))
    await api.call('createLabel', { params, body: { name: 'New' } })
    const headers = { 'if-none-match': before }
    expect(await api.send('listLabels', { params, headers })).toMatchObject({ status: 200 })
  })

  test('[READ-1] a large object has the same ETag in a read and in the response to a change', async () => {
    const own = await service.board()
    const { api } = own.member
    const at = { board_id: own.id, column_id: own.columns[0].id }
    const { id: card_id } = await api.call('createCard', { params: at, body: { title: 'Large' } })
    const params = { card_id }
    const changed = await api.send('updateCard', { params, body: { description: 'é'.repeat(65_536) } })
    const etag = etagOf(changed)
    const plain = await api.send('getCard', { params, headers: { 'accept-encoding': 'identity' } })
    const compressed = await api.send('getCard', { params })
    expect([plain, compressed].map(etagOf)).toEqual([etag, etag])
    expect([plain.text, compressed.text]).toEqual([changed.text, changed.text])
    expect(await api.send('getCard', { params, headers: { 'if-none-match': etag } })).toMatchObject({ status: 304 })
    const other = await api.send('updateCard', { params, body: { title: 'Larger' } })
    expect(etagOf(other)).not.toBe(etag)
  })

  test('[READ-1] a rejected request is rejected, whatever its If-None-Match', async () => {
    const etag = etagOf(await getBoard(board))
    const nonMember = await service.user()
    const known = { params: { board_id: board.id }, headers: { 'if-none-match': etag } }
    expect(await nonMember.api.fail('getBoard', known)).toMatchObject({ status: 403 })
  })

  test('[READ-2] a full board is 304 until anything on it changes', async () => {
    const own = await service.board()
    const etag = etagOf(await getBoard(own))
    const again = await getBoard(own, { 'if-none-match': etag })
    expect(again).toMatchObject({ status: 304, text: '' })
    expect(again.headers.get('board-position')).toBe(`1.${(await own.events()).length}`)
    await newCard(own)
    const next = await getBoard(own, { 'if-none-match': etag })
    expect(next.status).toBe(200)
    expect((next.body as FullBoard).columns[0]?.cards).toHaveLength(1)
    expect(next.headers.get('board-position')).toBe(`1.${(await own.events()).length}`)
  })

  test('[COMPAT-6] the ETag of a board in an older form is not confirmed', async () => {
    const own = await service.board()
    const etag = etagOf(await getBoard(own))
    const older = etag.replace(/^"\d+:/, '"2:')
    expect(older).not.toBe(etag)
    expect(await getBoard(own, { 'if-none-match': older })).toMatchObject({ status: 200 })
  })

  test('[READ-2] a changed profile of a member is visible on the next load, also if someone else changed it', async () => {
    const own = await service.board()
    const load = async () => {
      const { body } = await getBoard(own)
      return (body as FullBoard).members.map(({ user: { firstname, is_active } }) => ({ firstname, is_active }))
    }
    await load()
    await own.owner.api.call('updateMe', { body: { firstname: 'Ada' } })
    expect(await load()).toMatchObject([{ firstname: 'Ada' }, { firstname: null }])
    await service.sql.query(`update users set firstname = 'Bob' where id = $1`, [own.member.id])
    expect(await load()).toMatchObject([{ firstname: 'Ada' }, { firstname: 'Bob' }])
    await service.sql.query('update users set is_active = false where id = $1', [own.owner.id])
    expect(await load()).toMatchObject([{ is_active: false }, { is_active: true }])
    const etag = etagOf(await getBoard(own))
    await service.user().then(({ api }) => api.call('updateMe', { body: { firstname: 'Somebody else' } }))
    expect(await getBoard(own, { 'if-none-match': etag })).toMatchObject({ status: 304 })
  })
})

/** A connection to the service's database that counts how often a full board is built. */
function countingBuilds() {
  const database = new Database({ url: service.databaseUrl, size: 2, onError: () => {} })
  const counts = { built: 0 }
  const db: typeof database = Object.create(database, {
    run: {
      value: (statement: { name: string }, args: never) => {
        if (statement.name === 'read_full_board') counts.built++
        return database.run(statement as never, args)
      },
    },
  })
  return { db, counts, close: () => database.close() }
}

describe('the board cache', () => {
  test('[READ-3] the cache never exceeds its limit, keeps the most recently used boards, and builds no board twice', async () => {
    const boards = await Promise.all(Array.from({ length: 8 }, () => service.board()))
    for (const own of boards) for (let i = 0; i < 5; i++) await newCard(own, randomUUID())
    const { db, counts, close } = countingBuilds()
    const bound = 6_000
    const cache = new BoardCache(bound)
    const read = async ({ id }: TestBoard) => {
      const version = (await readBoardVersion(db, id)) as { position: string; profiles: string }
      const kept = await cache.get(db, id, version)
      expect(cache.sizeBytes).toBeLessThanOrEqual(bound)
      // The cache holds no more memory than it counts.
      expect(kept.bytes.buffer.byteLength).toBe(kept.bytes.length)
      return JSON.parse(gunzipSync(kept.bytes).toString())
    }
    const [first] = boards as [TestBoard, ...TestBoard[]]
    expect(await read(first)).toEqual((await getBoard(first)).body)
    await Promise.all(Array.from({ length: 20 }, () => read(first)))
    expect(counts.built).toBe(1)
    for (const own of boards) await read(own)
    expect(counts.built).toBe(8)
    expect(cache.sizeBytes).toBeGreaterThan(bound / 2)
    await read(boards.at(-1) as TestBoard)
    expect(counts.built).toBe(8)
    await read(first)
    expect(counts.built).toBe(9)
    const tiny = new BoardCache(10)
    await tiny.get(db, first.id, (await readBoardVersion(db, first.id)) as never)
    expect(tiny.sizeBytes).toBe(0)
    await close()
  })

  test('[READ-8] after every kind of change the cached board is what a new one would be, and is rarely built again', async () => {
    const own = await service.board()
    const { api } = own.owner
    const params = { board_id: own.id }
    const [first, second] = await Promise.all([newCard(own, 'First'), newCard(own, 'Second')])
    const listOn = (card_id: string) =>
      api.call('createChecklist', { params: { card_id }, body: { title: 'List' } }).then(({ id }) => id)
    const [from, to] = [await listOn(first.id), await listOn(second.id)]
    const item = await api.call('createItem', { params: { checklist_id: from }, body: { content: 'Item' } })
    const label = await api.call('createLabel', { params, body: { name: 'Label' } })
    await api.call('addCardLabel', { params: { card_id: first.id, label_id: label.id } })
    const at = { ...params, column_id: own.columns[0].id }
    const changes: Record<string, () => Promise<unknown>> = {
      'a card': () => api.call('updateCard', { params: { card_id: first.id }, body: { title: 'Über' } }),
      'a comment': () => api.call('createComment', { params: { card_id: first.id }, body: { body: 'Hello' } }),
      'an item that moves to another card': () =>
        api.call('moveItem', { params: { item_id: item.id }, body: { checklist_id: to } }),
      'the title of a column': () => api.call('updateColumn', { params: at, body: { title: 'Now' } }),
      'a new label': () => api.call('createLabel', { params, body: { name: 'Other' } }),
      'many cards at one place, so that others are re-spaced': async () => {
        for (let i = 0; i < 30; i++)
          await api.call('createCard', { params: at, body: { title: 'Next', after_id: first.id } })
      },
      'an archived column': () => api.call('archiveColumn', { params: at }),
      'a restored column': () =>
        api.call('restoreRemoved', { params: { ...params, removed_id: own.columns[0].id }, body: {} }),
      'nothing but the position': async () => {
        await api
          .call('createCard', { params: at, body: { title: 'Short-lived' } })
          .then(({ id }) => api.call('deleteCard', { params: { card_id: id } }))
      },
      'a deleted column': () => api.call('deleteColumn', { params: { column_id: own.columns[1].id } }),
    }
    const rebuilt: Record<string, () => Promise<unknown>> = {
      'a renamed label': () => api.call('updateLabel', { params: { label_id: label.id }, body: { name: 'Renamed' } }),
      'a deleted label': () => api.call('deleteLabel', { params: { label_id: label.id } }),
      'a changed profile': () => api.call('updateMe', { body: { firstname: 'Ada' } }),
      'an event of another version': async () => {
        await api.call('updateCard', { params: { card_id: first.id }, body: { title: 'Newer' } })
        await service.sql.query(
          "update board_events set type = 'card.painted' where board_id = $1 and seq = (select max(seq) from board_events where board_id = $1)",
          [own.id],
        )
      },
      'events that are gone': async () => {
        await api.call('updateCard', { params: { card_id: first.id }, body: { title: 'Last' } })
        await service.sql.query('delete from board_events where board_id = $1', [own.id])
      },
      'a new epoch': () => service.sql.query('update board_stream set epoch = epoch + 1 where board_id = $1', [own.id]),
    }
    const { db, counts, close } = countingBuilds()
    const read = async (cache: BoardCache) => {
      const { bytes } = await cache.get(db, own.id, (await readBoardVersion(db, own.id)) as BoardVersion)
      return gunzipSync(bytes).toString()
    }
    const cache = new BoardCache(1_000_000)
    await read(cache)
    for (const [list, builds] of [
      [changes, 0],
      [rebuilt, 1],
    ] as const)
      for (const [what, change] of Object.entries(list)) {
        await change()
        counts.built = 0
        const text = await read(cache)
        expect([what, counts.built]).toEqual([what, builds])
        expect([what, text]).toEqual([what, await read(new BoardCache(1_000_000))])
      }
    await close()
  })

  test('[READ-3] many concurrent reads of a changing board each see a consistent version, and never an older one', async () => {
    const own = await service.board()
    const positions: string[][] = []
    const reader = async () => {
      const seen: string[] = []
      for (let i = 0; i < 15; i++) {
        const { body, headers } = await getBoard(own)
        const position = headers.get('board-position') ?? ''
        // Each card is one event, so the position tells the content.
        const cards = (body as FullBoard).columns[0]?.cards.length ?? 0
        expect(position).toBe(`1.${3 + cards}`)
        seen.push(position)
      }
      positions.push(seen)
    }
    const writer = async () => {
      for (let i = 0; i < 20; i++) await newCard(own)
    }
    await Promise.all([writer(), ...Array.from({ length: 6 }, reader)])
    const numbers = positions.map((seen) => seen.map((position) => Number(position.slice(2))))
    for (const seen of numbers) expect(seen).toEqual(seen.toSorted((a, b) => a - b))
  })

  test('[READ-5] large responses are compressed if the client accepts it, with the same content', async () => {
    const own = await service.board()
    for (let i = 0; i < 20; i++) await newCard(own)
    const accepts = async (encoding: string) => {
      const response = await fetch(`${service.baseUrl}/boards/${own.id}`, {
        headers: { authorization: `Bearer ${own.member.api.token}`, 'accept-encoding': encoding },
      })
      return {
        encoding: response.headers.get('content-encoding'),
        vary: response.headers.get('vary'),
        text: await response.text(),
      }
    }
    const plain = await accepts('identity')
    expect(plain).toMatchObject({ encoding: null, vary: 'Origin, Prefer, Accept-Encoding' })
    for (const encoding of ['gzip', 'br, gzip;q=0.5', '*']) {
      expect(await accepts(encoding)).toEqual({ ...plain, encoding: 'gzip' })
    }
    for (const encoding of ['br', 'gzip;q=0', 'gzip;q=0.0', '']) expect(await accepts(encoding)).toEqual(plain)
    const small = await fetch(`${service.baseUrl}/cards/${card.id}`, {
      headers: { authorization: `Bearer ${board.member.api.token}`, 'accept-encoding': 'gzip' },
    })
    expect(small.headers.get('content-encoding')).toBeNull()
  })
})

describe('a conditional change', () => {
  test('[READ-4] is rejected with the current state when the resource has changed', async () => {
    const own = await newCard(board)
    const params = { card_id: own.id }
    const { api } = board.member
    const seen = etagOf(await api.send('getCard', { params }))
    const next = await api.send('updateCard', { params, body: { title: 'Next' }, headers: { 'if-match': seen } })
    expect(next.status).toBe(200)
    const { response, events } = await recordEvents(board, () =>
      api.send('updateCard', { params, body: { title: 'Lost' }, headers: { 'if-match': seen } }),
    )
    expect(response).toMatchObject({ status: 412, body: { code: 'precondition_failed', current: next.body } })
    expect(Object.keys(response.body as object)).toEqual(['detail', 'code', 'current'])
    expect(events).toEqual([])
    const last = { 'if-match': `"other", ${etagOf(next)}` }
    expect((await api.send('deleteCard', { params, headers: { 'if-match': seen } })).status).toBe(412)
    expect((await api.send('deleteCard', { params, headers: last })).status).toBe(204)
    expect((await api.send('deleteCard', { params, headers: { 'if-match': '*' } })).status).toBe(404)
  })

  test('[READ-4] of many concurrent changes of the same version, one succeeds', async () => {
    const own = await newCard(board)
    const params = { card_id: own.id }
    const { api } = board.member
    const headers = { 'if-match': etagOf(await api.send('getCard', { params })) }
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, i) => api.send('updateCard', { params, body: { title: `Title ${i}` }, headers })),
    )
    const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b)
    expect(statuses).toEqual([200, ...Array(9).fill(412)])
  })

  test('[READ-4] a board has the ETag of the response to its change, and that of the full board', async () => {
    const own = await service.board()
    const { api } = own.owner
    const params = { board_id: own.id }
    const change = (title: string, etag: string) =>
      api.send('updateBoard', { params, body: { title }, headers: { 'if-match': etag } })
    const full = etagOf(await getBoard(own))
    const changed = await change('One', full)
    expect(changed.status).toBe(200)
    expect((await change('Two', full)).status).toBe(412)
    // A card changes the full board, but not the board itself.
    await newCard(own)
    expect((await change('Two', etagOf(changed))).status).toBe(200)
  })

  test('[READ-4] works for everything that can be changed or deleted', async () => {
    const { owner, member, id: board_id, columns } = await service.board()
    const { api } = owner
    const own = await api.call('createCard', {
      params: { board_id, column_id: columns[0].id },
      body: { title: 'Card' },
    })
    const of_card = { params: { card_id: own.id } }
    const label = await api.send('createLabel', { params: { board_id }, body: { name: 'Label' } })
    const checklist = await api.send('createChecklist', { ...of_card, body: { title: 'List' } })
    const checklist_id = idOf(checklist)
    const item = await api.send('createItem', { params: { checklist_id }, body: { content: 'Item' } })
    const file = await api.send('createAttachment', { ...of_card, body: { file: new File(['x'], 'x') } })
    const comment = await api.send('createComment', { ...of_card, body: { body: 'Comment' } })
    const rule = await api.send('createRule', {
      params: { board_id },
      body: { name: 'Rule', trigger_type: 'CARD_CREATED', action_type: 'ASSIGN_MEMBER', action_user_id: owner.id },
    })
    const column = await api.send('createColumn', { params: { board_id }, body: { title: 'Column' } })
    const archived = { column_id: columns[1].id }
    await api.call('archiveColumn', { params: archived })
    const ids: Record<string, string> = {
      board_id,
      user_id: member.id,
      card_id: own.id,
      label_id: idOf(label),
      checklist_id,
      item_id: idOf(item),
      attachment_id: idOf(file),
      comment_id: idOf(comment),
      rule_id: idOf(rule),
      column_id: idOf(column),
      removed_id: archived.column_id,
    }
    const bodies: Record<string, object> = {
      updateMember: { role: 'owner' },
      updateItem: { is_done: true },
      updateComment: { body: 'Next' },
    }
    const conditional = Object.entries<Operation>(operations).filter(
      ([, { method, emits }]) => emits && (method === 'PATCH' || method === 'DELETE'),
    )
    expect(conditional.length).toBeGreaterThan(15)
    for (const [name, { method, path, body }] of conditional) {
      const url = path.replaceAll(/\{(\w+)\}/g, (_, key: string) => ids[key] as string)
      const json = body && (bodies[name] ?? { title: 'Next', name: 'Next' })
      const rejected = await api.request(method, url, { json, headers: { 'if-match': '"other"' } })
      expect({ name, status: rejected.status }).toEqual({ name, status: 412 })
      const { current } = rejected.body as { current: object }
      expect(current, name).toBeTypeOf('object')
    }
    // The ETag of each create response is used for the change.
    const expected: [OperationName, ApiResponse][] = [
      ['updateLabel', label],
      ['updateItem', item],
      ['updateComment', comment],
      ['updateRule', rule],
      ['updateColumn', column],
      ['deleteAttachment', file],
    ]
    for (const [name, seen] of expected) {
      const { method, path, body } = operations[name] as Operation
      const url = path.replaceAll(/\{(\w+)\}/g, (_, key: string) => ids[key] as string)
      const json = body && (bodies[name] ?? { title: 'Next', name: 'Next' })
      const response = await api.request(method, url, { json, headers: { 'if-match': etagOf(seen) } })
      expect({ name, status: response.status }).toEqual({ name, status: body ? 200 : 204 })
    }
    const members = await api.send('updateMember', {
      params: { board_id, user_id: member.id },
      body: { role: 'owner' },
    })
    const demoted = await api.send('updateMember', {
      params: { board_id, user_id: member.id },
      body: { role: 'member' },
      headers: { 'if-match': etagOf(members) },
    })
    expect(demoted.status).toBe(200)
  })
})
const idOf = ({ body }: ApiResponse) => (body as { id: string }).id

test('[READ-7] a long list of boards is sent page by page, each board once and in order', async () => {
  const { api } = await service.user()
  const description = 'd'.repeat(65_000)
  const ids: string[] = []
  for (let i = 0; i < 40; i++)
    ids.push((await api.call('createBoard', { body: { title: `Board ${i}`, description } })).id)
  const list = async (encoding: string) => {
    const headers = { authorization: `Bearer ${api.token}`, 'accept-encoding': encoding }
    const response = await fetch(`${service.baseUrl}/boards`, { headers })
    expect([response.headers.get('etag'), response.headers.get('content-encoding')]).toEqual([
      null,
      encoding === 'gzip' ? 'gzip' : null,
    ])
    return (await response.json()) as { id: string; description: string }[]
  }
  for (const encoding of ['gzip', 'identity']) {
    const boards = await list(encoding)
    expect(boards.map(({ id }) => id)).toEqual(ids)
    expect(boards.every((one) => one.description === description)).toBe(true)
  }
})

test('[READ-7] the cards of many large boards are counted page by page', async () => {
  const { api } = await service.user()
  const create = async () => (await api.call('createBoard', { body: { title: 'Large' } })).id
  const ids = [await create(), await create(), await create()]
  const list = async () => {
    // The test client expects an ETag for a short response.
    const response = await fetch(`${service.baseUrl}/boards`, { headers: { authorization: `Bearer ${api.token}` } })
    const boards = (await response.json()) as { id: string }[]
    return { ids: boards.map(({ id }) => id), hasEtag: response.headers.has('etag') }
  }
  expect(await list()).toEqual({ ids, hasEtag: true })
  await service.sql.query('update board_stream set card_count = 200000 where board_id = any ($1)', [ids])
  expect(await list()).toEqual({ ids, hasEtag: false })
})
