import { type LiveBoard, openBoard, realEnvironment, type SocketLike } from '../../../client/src/live/index.ts'
import { assert, equal, until } from './assertions.ts'
import { faulty, loggedIn, newBoard, open, type ScenarioContext } from './scenario-clients.ts'

/** Live boards with real time, WebSockets and service. Longer cases are simulated. */
export const liveScenarios: Record<string, (context: ScenarioContext) => Promise<void>> = {
  '[SYNC-10] a change is shown immediately on its board, and on another as soon as the server has it': async (
    context,
  ) => {
    const { client, board_id, column_id } = await newBoard(context)
    await using mine = await openBoard(client, board_id)
    await using other = await openBoard(await loggedIn(context), board_id)
    const events = other.events()
    const { id, done } = mine.change('createCard', { column_id, title: 'One' })
    equal(titlesOf(mine), ['One'])
    equal(await done, { outcome: 'confirmed' })
    for await (const event of events) {
      equal(event.type === 'card.created' && event.data.id, id)
      break
    }
    equal(titlesOf(other), ['One'])
    await until(
      () => mine.status.pending === 0 && mine.position === other.position,
      'both are at the position of the server',
    )
  },

  '[SYNC-14] a rejected change is rolled back, and its text is kept': async (context) => {
    const { client, board_id } = await newBoard(context)
    await using board = await openBoard(client, board_id)
    const title = 'long '.repeat(1_000)
    const settled = await board.change('updateBoard', { title }).done
    equal(settled.outcome === 'rejected' && settled.failure.problem?.code, 'invalid_input')
    equal([board.view?.title, board.failedChanges[0]?.text], ['Plan', title])
  },

  '[SYNC-10] [SDK-18] a queued change with an unknown field is accepted, also if the client is strict': async (
    context,
  ) => {
    const { client: other, board_id } = await newBoard(context)
    const sent: [isWrite: boolean, preference: string | null][] = []
    const client = open({
      baseUrl: context.baseUrl,
      token: other.session.token,
      strict: true,
      fetch: (url, init) => {
        const headers = new Headers(init?.headers)
        sent.push([headers.has('idempotency-key'), headers.get('prefer')])
        return fetch(url, init)
      },
    })
    await client.updateBoard({ board_id, title: 'Strict' })
    equal(sent.shift(), [true, 'handling=strict'])
    await using board = await openBoard(client, board_id)
    const change = { title: 'Queued', descripton: 'x' }
    equal(await board.change('updateBoard', change).done, { outcome: 'confirmed' })
    equal(
      sent.filter(([isWrite]) => isWrite),
      [[true, null]],
    )
  },

  '[SYNC-15] after a cut connection, events continue once and in order, without reloading the board': async (
    context,
  ) => {
    const { client, board_id, column_id } = await newBoard(context)
    const { client: cuttable, breakSockets, seen } = faulty(context, 'none', 0, client.session.token)
    await using board = await openBoard(cuttable, board_id)
    await isLive(board)
    const events = board.events()
    for (const title of ['One', 'Two', 'Three']) {
      await breakSockets('cut')
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
    assert(paths.filter((path) => path.includes('ticket')).length > 1, 'it reconnected')
  },

  '[SYNC-12] behind a proxy that blocks WebSockets, it polls, and changes still work': async (context) => {
    const { client, board_id, column_id } = await newBoard(context)
    await using board = await openBoard(faulty(context, 'noSockets', 0, client.session.token).client, board_id)
    await until(() => board.status.phase === 'polling', 'polling')
    equal(await board.change('createCard', { column_id, title: 'Mine' }).done, { outcome: 'confirmed' })
    await until(() => board.status.pending === 0, 'the change was polled')
    await client.createCard({ board_id, column_id, title: 'By another client' })
    await until(() => titlesOf(board).length === 2, 'changes of others are shown')
    equal(board.status.phase, 'polling')
  },

  '[SYNC-22] presence lists everyone connected, and removes users who leave': async (context) => {
    const { client, board_id } = await newBoard(context)
    const guest = open({ baseUrl: context.baseUrl, token: context.calls[0]?.token })
    const [me, { id: user_id }] = await Promise.all([client.getMe(), guest.getMe()])
    await client.inviteMember({ board_id, user_id })
    await using board = await openBoard(client, board_id)
    const present = ({ presence }: LiveBoard) => presence.map((user) => user.user_id).sort()
    const isThere = (shown: LiveBoard, ids: string[]) => () => present(shown).join() === ids.sort().join()
    await until(isThere(board, [me.id]), 'the first is present')
    {
      await using other = await openBoard(guest, board_id)
      await until(isThere(board, [me.id, user_id]), 'the first sees the second')
      await until(isThere(other, [me.id, user_id]), 'the second sees the first')
    }
    await until(isThere(board, [me.id]), 'the second has left')
  },

  '[SYNC-17] `await using` leaves no timer, no WebSocket and no pending reader': async (context) => {
    const { client, board_id } = await newBoard(context)
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
      assert(timers.size > 0 && sockets.length === 1, `${timers.size} timers, ${sockets.length} sockets`)
      next = board.events().next()
    }
    equal(await next, { done: true })
    equal(timers.size, 0)
    const CLOSED = 3
    await until(() => sockets.every(({ readyState }) => readyState === CLOSED), 'the socket is closed')
  },
}

/** Runs in a page, which alone gets these events: a dead connection is replaced immediately. */
export async function wakeScenario(context: ScenarioContext): Promise<void> {
  const page = globalThis as unknown as EventTarget & { document: EventTarget }
  const { client, board_id, column_id } = await newBoard(context)
  const { client: mortal, breakSockets } = faulty(context, 'none', 0, client.session.token)
  let sleptMs = 0
  const environment = { now: () => Date.now() + sleptMs }
  await using board = await openBoard(mortal, board_id, { environment })
  for (const [target, type] of [
    [page, 'online'],
    [page, 'focus'],
    [page, 'pageshow'],
    [page.document, 'visibilitychange'],
  ] as const) {
    await isLive(board)
    await breakSockets('blackhole')
    await client.createCard({ board_id, column_id, title: type })
    if (type !== 'online') {
      // A message arrived recently, so the connection is trusted.
      target.dispatchEvent(new Event(type))
      equal([type, board.status.phase], [type, 'live'])
      sleptMs += 36_000
    }
    target.dispatchEvent(new Event(type))
    equal([type, board.status.phase], [type, 'connecting'])
    await until(() => titlesOf(board).includes(type), `${type}: missed events are shown`, 2_000)
  }
}

const titlesOf = ({ view }: LiveBoard) => view?.columns.flatMap(({ cards }) => cards.map(({ title }) => title)) ?? []
const isLive = (board: LiveBoard) => until(() => board.status.phase === 'live', 'live')
