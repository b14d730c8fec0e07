import { memoryQueue } from '@lockstep/testing/client/memory-queue'
import { driverMutations, mutantBoard, removeMutants } from '@lockstep/testing/client/mutants'
import { startService, type TestBoard, type TestService, type TestUser } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, createClient } from '../index.ts'
import type { Api } from './api.ts'
import { LiveBoard, openBoard } from './live-board.ts'
import { conflictOf } from './predict.ts'
import type { Change } from './types.ts'

const ROUNDS = 25
let service: TestService
const clients: Client[] = []
beforeAll(async () => {
  service = await startService()
})
afterAll(async () => {
  for (const client of clients) client.close()
  removeMutants('conditional')
  await service.stop()
})

function clientOf({ api }: TestUser): Client {
  const client = createClient({ baseUrl: service.baseUrl, token: api.token })
  clients.push(client)
  return client
}

/** A card with a description, edited by two users. */
async function written(board: TestBoard, description = 'first') {
  const params = { board_id: board.id, column_id: board.columns[0].id }
  const { id } = await board.owner.api.call('createCard', { params, body: { title: 'Card', description } })
  const rewrite = (text: string) =>
    board.member.api.call('updateCard', { params: { card_id: id }, body: { description: text } })
  const read = async () => (await board.owner.api.call('getCard', { params: { card_id: id } })).description
  return { card_id: id, rewrite, read }
}
const soon = <T>(read: () => T) => expect.poll(read, { timeout: 10_000 })
const edit = (board: LiveBoard, card_id: string, description: string, seen: string | null) =>
  board.change('updateCard', { card_id, description }, { unlessChanged: { description: seen } })
const shown = (board: LiveBoard, card_id: string) =>
  board.view?.columns.flatMap(({ cards }) => cards).find(({ id }) => id === card_id)?.description
const logged = async (board: TestBoard) =>
  (await board.events()).filter(({ type }) => type === 'card.updated').map(({ data }) => data['description'])

/** Wraps an API with an interceptor. */
const intercept = (
  api: Api,
  on: (name: string, go: () => ReturnType<Api['request']>) => ReturnType<Api['request']>,
): Api => ({
  baseUrl: api.baseUrl,
  request: (name, input, options) => on(name, () => api.request(name, input, options)),
})

/**
 * Two users save different texts over the same one at the same moment, repeatedly. Counts how often a text was lost.
 */
async function race(Board: typeof LiveBoard): Promise<{ lost: number; decided: string[][] }> {
  const board = await service.board()
  const { card_id, read } = await written(board)
  const boards = [board.owner, board.member].map((user) => new Board(clientOf(user), board.id, {}))
  await Promise.all(boards.map(({ ready }) => ready))
  const decided: string[][] = []
  let [seen, lost] = ['first', 0]
  for (let round = 0; round < ROUNDS; round++) {
    await soon(() => boards.map((each) => shown(each, card_id))).toEqual([seen, seen])
    const settled = await Promise.all(
      boards.map(async (each, i) => {
        const text = `${round} of ${i}`
        const made = edit(each, card_id, text, seen)
        expect(shown(each, card_id)).toBe(text)
        return { text, settled: await made.done }
      }),
    )
    decided.push(settled.map((each) => each.settled.outcome).sort())
    const now = (await read()) ?? ''
    const isKept = ({ text, settled: end }: (typeof settled)[number]) =>
      text === now || ('failure' in end && end.failure.text === text && end.failure.current?.description === now)
    if (!settled.every(isKept)) lost++
    seen = now
  }
  await Promise.all(boards.map((each) => each.close()))
  return { lost, decided }
}

describe('a conditional update on the service', () => {
  test('[SYNC-25] of two concurrent updates one succeeds, and the other gets both texts', async () => {
    const { lost, decided } = await race(LiveBoard)
    expect(lost).toBe(0)
    expect(decided).toEqual(Array.from({ length: ROUNDS }, () => ['confirmed', 'conflict']))
  })

  test.each(['expected fields are not compared', 'conditional updates are sent unconditionally'])(
    '[SYNC-25] a lost update is detected: %s',
    async (name) => {
      const [file, rule, without] = driverMutations[name] as (typeof driverMutations)[string]
      const { lost } = await race(await mutantBoard(name, file, rule, without, 'conditional'))
      expect(lost).toBeGreaterThan(0)
    },
    60_000,
  )

  test('[SYNC-25] an update whose response was lost is confirmed, even if others have changed the text since', async () => {
    const board = await service.board()
    const { card_id, rewrite, read } = await written(board)
    const names: string[] = []
    const api = intercept(clientOf(board.owner), async (name, go) => {
      names.push(name)
      const response = await go()
      if (name !== 'updateCard' || names.filter((each) => each === name).length > 1) return response
      await rewrite('later text')
      throw new TypeError('lost')
    })
    await using live = await openBoard(api, board.id)
    expect(await edit(live, card_id, 'mine', 'first').done).toEqual({ outcome: 'confirmed' })
    await soon(() => shown(live, card_id)).toBe('later text')
    expect([await read(), await logged(board), live.failedChanges]).toEqual(['later text', ['mine', 'later text'], []])
    expect(names.filter((name) => name.endsWith('Card'))).toEqual(['getCard', 'updateCard', 'updateCard'])
  })

  test('[SYNC-25] the same holds if the page is reloaded in between', async () => {
    const board = await service.board()
    const { card_id, rewrite } = await written(board)
    const storage = memoryQueue()
    let isOffline = false
    const api = intercept(clientOf(board.owner), async (name, go) => {
      if (isOffline) throw new TypeError('no network')
      const response = await go()
      if (name !== 'updateCard') return response
      isOffline = true
      throw new TypeError('lost')
    })
    {
      await using live = await openBoard(api, board.id, { storage })
      edit(live, card_id, 'mine', 'first')
      await soon(() => isOffline).toBe(true)
    }
    await rewrite('later text')
    await using live = await openBoard(clientOf(board.owner), board.id, { storage })
    await soon(() => live.pending).toEqual([])
    expect([live.failedChanges, storage.texts.size]).toEqual([[], 0])
    expect(await logged(board)).toEqual(['mine', 'later text'])
  })

  test.each(['on the same page', 'after a reload'])(
    '[SYNC-25] text written offline, %s, does not overwrite text that someone else wrote in the meantime',
    async (how) => {
      const board = await service.board()
      const { card_id, rewrite, read } = await written(board)
      const storage = memoryQueue()
      let isOffline = false
      const api = intercept(clientOf(board.owner), async (_, go) => {
        if (isOffline) throw new TypeError('no network')
        return go()
      })
      let live = await openBoard(api, board.id, { storage })
      isOffline = true
      const { key, done } = edit(live, card_id, 'mine', 'first')
      expect(shown(live, card_id)).toBe('mine')
      await soon(() => live.pending[0]?.attempts).toBeGreaterThan(0)
      if (how === 'after a reload') await live.close()
      await rewrite('theirs')
      isOffline = false
      if (how === 'after a reload') live = await openBoard(api, board.id, { storage })
      else expect(await done).toMatchObject({ outcome: 'conflict', failure: { key } })
      await expect
        .poll(() => live.failedChanges)
        .toMatchObject([{ key, reason: 'conflict', text: 'mine', current: { description: 'theirs' } }])
      await soon(() => shown(live, card_id)).toBe('theirs')
      expect([await read(), live.canUndo, storage.texts.size]).toEqual(['theirs', false, 0])
      await live.close()
    },
  )

  test('[SYNC-25] a conflict that the board already shows needs no request, and text that is already as wanted is not a conflict', async () => {
    const board = await service.board()
    const { card_id, rewrite } = await written(board)
    const names: string[] = []
    const api = intercept(clientOf(board.owner), (name, go) => {
      names.push(name)
      return go()
    })
    await using live = await openBoard(api, board.id)
    await rewrite('theirs')
    await soon(() => shown(live, card_id)).toBe('theirs')
    names.length = 0
    const late = edit(live, card_id, 'mine', 'first')
    expect(shown(live, card_id)).toBe('theirs')
    expect(await late.done).toMatchObject({ outcome: 'conflict', failure: { text: 'mine' } })
    expect(names).toEqual([])
    expect(await edit(live, card_id, 'theirs', 'first').done).toEqual({ outcome: 'confirmed' })
    // Each is based on the one before, which the base need not contain yet.
    const [one, two] = [edit(live, card_id, 'one', 'theirs'), edit(live, card_id, 'two', 'one')]
    expect([await one.done, await two.done]).toEqual([{ outcome: 'confirmed' }, { outcome: 'confirmed' }])
    expect(live.undo()).toHaveLength(1)
    await soon(() => live.status.pending).toBe(0)
    expect(shown(live, card_id)).toBe('one')
    // A redo has the same condition as the original change.
    await rewrite('theirs again')
    const [again] = live.redo()
    expect(await again?.done).toMatchObject({ outcome: 'conflict', failure: { text: 'two' } })
  })

  test('[SYNC-24] undoing text that someone else has changed since is a conflict and overwrites nothing', async () => {
    const board = await service.board()
    const { card_id, rewrite, read } = await written(board)
    await using live = await openBoard(clientOf(board.owner), board.id)
    await live.change('updateCard', { card_id, description: 'mine' }).done
    await rewrite('theirs')
    const [back] = live.undo()
    expect(await back?.done).toMatchObject({ outcome: 'conflict', failure: { text: 'first' } })
    expect(await read()).toBe('theirs')
  })

  test.each([3, 8])(
    '[SYNC-25] other fields changing %i times between read and write is not a conflict',
    async (times) => {
      const board = await service.board()
      const { card_id, read } = await written(board)
      let left = times
      const api = intercept(clientOf(board.owner), async (name, go) => {
        const response = await go()
        if (name === 'getCard' && left-- > 0)
          await board.member.api.call('updateCard', { params: { card_id }, body: { title: `Title ${left}` } })
        return response
      })
      await using live = await openBoard(api, board.id)
      expect(await edit(live, card_id, 'mine', 'first').done).toEqual({ outcome: 'confirmed' })
      expect([await read(), (await logged(board)).filter((text) => text === 'mine')]).toEqual(['mine', ['mine']])
    },
  )

  test('[SYNC-25] without ETags in the responses the change is rejected, and the queue continues', async () => {
    const board = await service.board()
    const { card_id, read } = await written(board)
    const api = intercept(clientOf(board.owner), async (_, go) => ({ ...(await go()), etag: undefined }))
    await using live = await openBoard(api, board.id)
    const made = edit(live, card_id, 'mine', 'first')
    const next = live.change('updateBoard', { title: 'next' })
    expect(await made.done).toMatchObject({ outcome: 'rejected', failure: { text: 'mine', problem: { status: 412 } } })
    expect([await next.done, await read()]).toEqual([{ outcome: 'confirmed' }, 'first'])
  })
})

test('[SYNC-25] only expected fields are compared: as expected, as wanted, or in conflict', () => {
  const change: Change = { name: 'updateCard', input: { card_id: 'card', description: 'mine' } }
  const now = (description: string | null, title = 'Card') => ({ id: 'card', title, description })
  expect(conflictOf({ change }, now('theirs'))).toBeUndefined()
  const guard = { description: null }
  expect([now(null), now('mine', 'Other')].map((thing) => conflictOf({ change, expected: guard }, thing))).toEqual([
    undefined,
    undefined,
  ])
  expect(conflictOf({ change, expected: guard }, now('theirs'))).toEqual({ description: 'theirs' })
  expect(conflictOf({ change, expected: { title: 'Card' } }, now('theirs', 'Other'))).toEqual({ title: 'Other' })
})

test('[SYNC-25] only changes of cards accept expected fields, and only fields of cards', () => {
  const compiles = (board: LiveBoard) => {
    board.change('updateCard', { card_id: '', title: '' }, { unlessChanged: { title: '', description: null } })
    // @ts-expect-error a card has no such field
    board.change('updateCard', { card_id: '', title: '' }, { unlessChanged: { name: '' } })
    // @ts-expect-error a move overwrites nothing
    board.change('moveCard', { card_id: '' }, { unlessChanged: { title: '' } })
  }
  expect(compiles).toBeTypeOf('function')
})
