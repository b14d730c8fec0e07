import { type LiveBoard, openBoard, realEnvironment, type SocketLike } from '../../../client/src/live/index.ts'
import { equal, truth, until } from './expectations.ts'
import { faulty, loggedIn, newBoard, open, type Setting } from './scenario-clients.ts'

/** The live board with the clock, the sockets and the service as they are. What takes longer is simulated, in its own test. */
export const liveScenarios: Record<string, (setting: Setting) => Promise<void>> = {
  '[SYNC-10] a change is on its board at once, and on another as soon as the server has it': async (setting) => {
    const { client, board_id, column_id } = await newBoard(setting)
    await using mine = await openBoard(client, board_id)
    await using other = await openBoard(await loggedIn(setting), board_id)
    const events = other.events()
    const { id, done } = mine.change('createCard', { column_id, title: 'One' })
    equal(titlesOf(mine), ['One'])
    equal(await done, { outcome: 'confirmed' })
    for await (const event of events) {
      equal(event.type === 'card.created' && event.data.id, id)
      break
    }
    equal(titlesOf(other), ['One'])
    await until(() => mine.status.pending === 0 && mine.position === other.position, 'both are where the server is')
  },

  '[SYNC-14] a change that is refused is taken back, and its text is kept': async (setting) => {
    const { client, board_id } = await newBoard(setting)
    await using board = await openBoard(client, board_id)
    const title = 'long '.repeat(1_000)
    const settled = await board.change('updateBoard', { title }).done
    equal(settled.outcome === 'rejected' && settled.notice.problem?.code, 'invalid_input')
    equal([board.view?.title, board.notices[0]?.text], ['Plan', title])
  },

  '[SYNC-15] a line that is cut is taken up where it was: events come in order, each once, without a second load':
    async (setting) => {
      const { client, board_id, column_id } = await newBoard(setting)
      const { client: cuttable, spoil, seen } = faulty(setting, 'none', 0, client.session.token)
      await using board = await openBoard(cuttable, board_id)
      await isLive(board)
      const events = board.events()
      for (const title of ['One', 'Two', 'Three']) {
        await spoil('cut')
        await client.createCard({ board_id, column_id, title })
      }
      const titles: unknown[] = []
      for await (const event of events) {
        titles.push(event.type === 'card.created' && event.data.title)
        if (titles.length === 3) break
      }
      equal(titles, ['One', 'Two', 'Three'])
      equal(titlesOf(board), titles)
      await isLive(board)
      const paths = (await seen()).map(({ path }) => path)
      equal(paths.filter((path) => path === `/boards/${board_id}`).length, 1)
      truth(paths.filter((path) => path.includes('ticket')).length > 1, 'it had to come back')
    },

  '[SYNC-12] where a proxy lets no socket through, it asks, and changes are made all the same': async (setting) => {
    const { client, board_id, column_id } = await newBoard(setting)
    await using board = await openBoard(faulty(setting, 'barred', 0, client.session.token).client, board_id)
    await until(() => board.status.phase === 'polling', 'polling')
    equal(await board.change('createCard', { column_id, title: 'Mine' }).done, { outcome: 'confirmed' })
    await until(() => board.status.pending === 0, 'it was asked for')
    await client.createCard({ board_id, column_id, title: 'Another’s' })
    await until(() => titlesOf(board).length === 2, 'what others do is shown')
    equal(board.status.phase, 'polling')
  },

  '[SYNC-22] who is connected is told, whoever came first, and who left': async (setting) => {
    const { client, board_id } = await newBoard(setting)
    const guest = open({ base_url: setting.base_url, token: setting.walk[0]?.token })
    const [me, { id: user_id }] = await Promise.all([client.getMe(), guest.getMe()])
    await client.inviteMember({ board_id, user_id })
    await using board = await openBoard(client, board_id)
    const present = ({ presence }: LiveBoard) => presence.map((user) => user.user_id).sort()
    const isThere = (shown: LiveBoard, ids: string[]) => () => present(shown).join() === ids.sort().join()
    await until(isThere(board, [me.id]), 'the first is there')
    {
      await using other = await openBoard(guest, board_id)
      await until(isThere(board, [me.id, user_id]), 'the first sees the second')
      await until(isThere(other, [me.id, user_id]), 'the second sees the first')
    }
    await until(isThere(board, [me.id]), 'the second has left')
  },

  '[SYNC-17] `await using` leaves no timer, no socket, and nobody who waits': async (setting) => {
    const { client, board_id } = await newBoard(setting)
    const timers = new Set<object>()
    const sockets: { readyState: number }[] = []
    const after = (ms: number, work: () => void) => {
      const timer = {}
      timers.add(timer)
      const cancel = realEnvironment.after(ms, () => {
        timers.delete(timer)
        work()
      })
      return () => {
        timers.delete(timer)
        cancel()
      }
    }
    const openSocket = (url: string) => {
      const socket = realEnvironment.openSocket(url) as SocketLike & { readyState: number }
      sockets.push(socket)
      return socket
    }
    let next: Promise<unknown>
    {
      await using board = await openBoard(client, board_id, { environment: { after, openSocket } })
      await isLive(board)
      truth(timers.size > 0 && sockets.length === 1, `${timers.size} timers, ${sockets.length} sockets`)
      next = board.events().next()
    }
    equal(await next, { done: true })
    equal(timers.size, 0)
    const CLOSED = 3
    await until(() => sockets.every(({ readyState }) => readyState === CLOSED), 'the socket is closed')
  },
}

/** In a page, which alone is told of these: a line that died without a word is not waited for. */
export async function wakeScenario(setting: Setting): Promise<void> {
  const page = globalThis as unknown as EventTarget & { document: EventTarget }
  const { client, board_id, column_id } = await newBoard(setting)
  const { client: mortal, spoil } = faulty(setting, 'none', 0, client.session.token)
  let slept_ms = 0
  const environment = { now: () => Date.now() + slept_ms }
  await using board = await openBoard(mortal, board_id, { environment })
  for (const [target, type] of [
    [page, 'online'],
    [page, 'focus'],
    [page, 'pageshow'],
    [page.document, 'visibilitychange'],
  ] as const) {
    await isLive(board)
    await spoil('deaden')
    await client.createCard({ board_id, column_id, title: type })
    if (type !== 'online') {
      // Heard of a moment ago: there is no reason to doubt the line.
      target.dispatchEvent(new Event(type))
      equal([type, board.status.phase], [type, 'live'])
      slept_ms += 36_000
    }
    target.dispatchEvent(new Event(type))
    equal([type, board.status.phase], [type, 'connecting'])
    await until(() => titlesOf(board).includes(type), `${type}: what was missed is there`, 2_000)
  }
}

const titlesOf = ({ view }: LiveBoard) => view?.columns.flatMap(({ cards }) => cards.map(({ title }) => title)) ?? []
const isLive = (board: LiveBoard) => until(() => board.status.phase === 'live', 'live')
