import { driverMutations, mutantBoard, removeMutants } from '@lockstep/testing/client/mutants'
import { memoryQueue } from '@lockstep/testing/client/virtual-world'
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
  removeMutants('guard')
  await service.stop()
})

function clientOf({ api }: TestUser): Client {
  const client = createClient({ base_url: service.base_url, token: api.token })
  clients.push(client)
  return client
}

/** A card that two people see. */
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
  board.change('updateCard', { card_id, description }, { unless_changed: { description: seen } })
const shown = (board: LiveBoard, card_id: string) =>
  board.view?.columns.flatMap(({ cards }) => cards).find(({ id }) => id === card_id)?.description
const logged = async (board: TestBoard) =>
  (await board.events()).filter(({ type }) => type === 'card.updated').map(({ data }) => data['description'])

/** An API on the way to which something happens. */
const along = (
  api: Api,
  on: (name: string, go: () => ReturnType<Api['request']>) => ReturnType<Api['request']>,
): Api => ({
  base_url: api.base_url,
  request: (name, input, options) => on(name, () => api.request(name, input, options)),
})

/** Two people save their own text over the same one at the same moment, again and again. How often was one lost? */
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
      text === now || ('notice' in end && end.notice.text === text && end.notice.current?.description === now)
    if (!settled.every(isKept)) lost++
    seen = now
  }
  await Promise.all(boards.map((each) => each.close()))
  return { lost, decided }
}

describe('a guarded change, on the service', () => {
  test('[SYNC-25] of two who write at the same moment exactly one wins, and the other has his text and the winner’s', async () => {
    const { lost, decided } = await race(LiveBoard)
    expect(lost).toBe(0)
    expect(decided).toEqual(Array.from({ length: ROUNDS }, () => ['confirmed', 'conflict']))
  }, 60_000)

  test.each(['what others wrote is not looked at', 'what is guarded is changed unconditionally'])(
    '[SYNC-25] it is noticed when %s',
    async (name) => {
      const [file, rule, without] = driverMutations[name] as (typeof driverMutations)[string]
      const { lost } = await race(await mutantBoard(name, file, rule, without, 'guard'))
      expect(lost).toBeGreaterThan(0)
    },
    60_000,
  )

  test('[SYNC-25] what happened while its answer was lost is confirmed, whatever others wrote after it', async () => {
    const board = await service.board()
    const { card_id, rewrite, read } = await written(board)
    const names: string[] = []
    const api = along(clientOf(board.owner), async (name, go) => {
      names.push(name)
      const answer = await go()
      if (name !== 'updateCard' || names.filter((each) => each === name).length > 1) return answer
      await rewrite('after it')
      throw new TypeError('lost')
    })
    await using live = await openBoard(api, board.id)
    expect(await edit(live, card_id, 'mine', 'first').done).toEqual({ outcome: 'confirmed' })
    await soon(() => shown(live, card_id)).toBe('after it')
    expect([await read(), await logged(board), live.notices]).toEqual(['after it', ['mine', 'after it'], []])
    expect(names.filter((name) => name.endsWith('Card'))).toEqual(['getCard', 'updateCard', 'updateCard'])
  })

  test('[SYNC-25] so it is when the page is loaded anew in between', async () => {
    const board = await service.board()
    const { card_id, rewrite } = await written(board)
    const storage = memoryQueue()
    let isCut = false
    const api = along(clientOf(board.owner), async (name, go) => {
      if (isCut) throw new TypeError('no network')
      const answer = await go()
      if (name !== 'updateCard') return answer
      isCut = true
      throw new TypeError('lost')
    })
    {
      await using live = await openBoard(api, board.id, { storage })
      edit(live, card_id, 'mine', 'first')
      await soon(() => isCut).toBe(true)
    }
    await rewrite('after it')
    await using live = await openBoard(clientOf(board.owner), board.id, { storage })
    await soon(() => live.pending).toEqual([])
    expect([live.notices, storage.texts.size]).toEqual([[], 0])
    expect(await logged(board)).toEqual(['mine', 'after it'])
  })

  test.each(['on the same page', 'over a reload'])(
    '[SYNC-25] what was written offline, %s, does not overwrite what somebody else wrote meanwhile',
    async (how) => {
      const board = await service.board()
      const { card_id, rewrite, read } = await written(board)
      const storage = memoryQueue()
      let isCut = false
      const api = along(clientOf(board.owner), async (_, go) => {
        if (isCut) throw new TypeError('no network')
        return go()
      })
      let live = await openBoard(api, board.id, { storage })
      isCut = true
      const { key, done } = edit(live, card_id, 'mine', 'first')
      expect(shown(live, card_id)).toBe('mine')
      await soon(() => live.pending[0]?.attempts).toBeGreaterThan(0)
      if (how === 'over a reload') await live.close()
      await rewrite('theirs')
      isCut = false
      if (how === 'over a reload') live = await openBoard(api, board.id, { storage })
      else expect(await done).toMatchObject({ outcome: 'conflict', notice: { key } })
      await expect
        .poll(() => live.notices)
        .toMatchObject([{ key, reason: 'conflict', text: 'mine', current: { description: 'theirs' } }])
      await soon(() => shown(live, card_id)).toBe('theirs')
      expect([await read(), live.can_undo, storage.texts.size]).toEqual(['theirs', false, 0])
      await live.close()
    },
  )

  test('[SYNC-25] what the board shows already needs no request to be a conflict, nor has what is as wanted to be one', async () => {
    const board = await service.board()
    const { card_id, rewrite } = await written(board)
    const names: string[] = []
    const api = along(clientOf(board.owner), (name, go) => {
      names.push(name)
      return go()
    })
    await using live = await openBoard(api, board.id)
    await rewrite('theirs')
    await soon(() => shown(live, card_id)).toBe('theirs')
    names.length = 0
    const late = edit(live, card_id, 'mine', 'first')
    expect(shown(live, card_id)).toBe('theirs')
    expect(await late.done).toMatchObject({ outcome: 'conflict', notice: { text: 'mine' } })
    expect(names).toEqual([])
    expect(await edit(live, card_id, 'theirs', 'first').done).toEqual({ outcome: 'confirmed' })
    // One after the other, each onto the one before, which the base need not show yet.
    const [one, two] = [edit(live, card_id, 'one', 'theirs'), edit(live, card_id, 'two', 'one')]
    expect([await one.done, await two.done]).toEqual([{ outcome: 'confirmed' }, { outcome: 'confirmed' }])
    expect(live.undo()).toHaveLength(1)
    await soon(() => live.status.pending).toBe(0)
    expect(shown(live, card_id)).toBe('one')
    // What is made again is as careful as it was the first time.
    await rewrite('theirs again')
    const [again] = live.redo()
    expect(await again?.done).toMatchObject({ outcome: 'conflict', notice: { text: 'two' } })
  })

  test('[SYNC-24] taking back a text that somebody else has written over since is a conflict, and overwrites nothing', async () => {
    const board = await service.board()
    const { card_id, rewrite, read } = await written(board)
    await using live = await openBoard(clientOf(board.owner), board.id)
    await live.change('updateCard', { card_id, description: 'mine' }).done
    await rewrite('theirs')
    const [back] = live.undo()
    expect(await back?.done).toMatchObject({ outcome: 'conflict', notice: { text: 'first' } })
    expect(await read()).toBe('theirs')
  })

  test.each([3, 8])(
    '[SYNC-25] a card that is changed otherwise %i times, each time between reading and writing, is no conflict',
    async (times) => {
      const board = await service.board()
      const { card_id, read } = await written(board)
      let left = times
      const api = along(clientOf(board.owner), async (name, go) => {
        const answer = await go()
        if (name === 'getCard' && left-- > 0)
          await board.member.api.call('updateCard', { params: { card_id }, body: { title: `Title ${left}` } })
        return answer
      })
      await using live = await openBoard(api, board.id)
      expect(await edit(live, card_id, 'mine', 'first').done).toEqual({ outcome: 'confirmed' })
      expect([await read(), (await logged(board)).filter((text) => text === 'mine')]).toEqual(['mine', ['mine']])
    },
  )

  test('[SYNC-25] where answers have no ETag it is refused, and the queue goes on', async () => {
    const board = await service.board()
    const { card_id, read } = await written(board)
    const api = along(clientOf(board.owner), async (_, go) => ({ ...(await go()), etag: undefined }))
    await using live = await openBoard(api, board.id)
    const made = edit(live, card_id, 'mine', 'first')
    const next = live.change('updateBoard', { title: 'next' })
    expect(await made.done).toMatchObject({ outcome: 'rejected', notice: { text: 'mine', problem: { status: 412 } } })
    expect([await next.done, await read()]).toEqual([{ outcome: 'confirmed' }, 'first'])
  })
})

test('[SYNC-25] a field counts when the guard names it: as it was seen, as it is wanted, or in conflict', () => {
  const change: Change = { name: 'updateCard', input: { card_id: 'card', description: 'mine' } }
  const now = (description: string | null, title = 'Card') => ({ id: 'card', title, description })
  expect(conflictOf({ change }, now('theirs'))).toBeUndefined()
  const guard = { description: null }
  expect([now(null), now('mine', 'Other')].map((thing) => conflictOf({ change, guard }, thing))).toEqual([
    undefined,
    undefined,
  ])
  expect(conflictOf({ change, guard }, now('theirs'))).toEqual({ description: 'theirs' })
  expect(conflictOf({ change, guard: { title: 'Card' } }, now('theirs', 'Other'))).toEqual({ title: 'Other' })
})

test('[SYNC-25] only changes of things that can be read are guarded, by fields of theirs', () => {
  const compiles = (board: LiveBoard) => {
    board.change('updateCard', { card_id: '', title: '' }, { unless_changed: { title: '', description: null } })
    // @ts-expect-error a card has no such field
    board.change('updateCard', { card_id: '', title: '' }, { unless_changed: { name: '' } })
    // @ts-expect-error a move overwrites nothing
    board.change('moveCard', { card_id: '' }, { unless_changed: { title: '' } })
  }
  expect(compiles).toBeTypeOf('function')
})
