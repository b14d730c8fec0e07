import { setTimeout as pause } from 'node:timers/promises'
import { demand, same } from './demand.ts'
import { Listener, type Message } from './listener.ts'
import { forged } from './part-5-authentication.ts'
import type { Presence } from './resources.ts'
import { row, unseen } from './rows.ts'
import { furnished } from './samples.ts'
import { newStage, type Person, type Service } from './service.ts'

const isOnline = async (who: Person, board_id: string, of: Person = who) =>
  (await who.get<Presence>(`/ws/boards/${board_id}/presence`)).online_users.some(({ user_id }) => user_id === of.id)
/** Seconds until something is so, by asking again and again. */
async function secondsUntil(isSo: () => Promise<boolean>, patienceS: number, otherwise: string): Promise<number> {
  const started = performance.now()
  for (;;) {
    const seconds = (performance.now() - started) / 1_000
    if (await isSo()) return seconds
    demand(seconds < patienceS, `${otherwise} after ${seconds.toFixed(0)} s`)
    await pause(patienceS > 10 ? 1_000 : 20)
  }
}

row('6.4-1-token', 'An invalid token: the connection is closed with code 1008.', async (service) => {
  const { owner, board_id } = await service.once(furnished)
  using listener = new Listener(service, board_id, { token: forged(owner.token) })
  same('the code', (await listener.end()).code, 1008)
})
unseen('6.4-1-expired', 'An expired token: the connection is closed with code 1008.', 'a token lives for an hour')
row(
  '6.4-1-member',
  'A caller who is not a board member: the connection is closed with code 1008, and hears nothing before.',
  async (service) => {
    const { nonMember, board_id } = await newStage(service)
    using listener = new Listener(service, board_id, { token: nonMember.token })
    same('the code', (await listener.end()).code, 1008)
    same('what it heard', listener.messages, [])
    same('whether the nonMember is present', await isOnline(nonMember, board_id), false)
  },
)
row('6.4-2-present', 'On connect the user is registered as present.', async (service) => {
  const { member, owner, board_id } = await newStage(service)
  same('presence before', await isOnline(owner, board_id, member), false)
  using _ = await member.follow(board_id)
  await secondsUntil(() => isOnline(owner, board_id, member), 5, 'not present')
})
row(
  '6.4-2-user_joined',
  'On connect user_joined is broadcast to the board: type, user_id and username, and nothing else.',
  async (service) => {
    const { owner, member, board_id } = await newStage(service)
    using listener = await owner.follow(board_id)
    using _ = await member.follow(board_id)
    const { id, user } = member
    const received = await listener.next(isAbout('user_joined', member), 'user_joined of the other')
    same('the message', { ...received }, { type: 'user_joined', user_id: id, username: user.username })
  },
)
row(
  '6.4-2-user_left',
  'user_left is sent when a user leaves: type, user_id and username, and nothing else.',
  async (service) => {
    const { owner, member, board_id } = await newStage(service)
    using listener = await owner.follow(board_id)
    const leaving = await member.follow(board_id)
    await leaving.close()
    const { id, user } = member
    const received = await listener.next(isAbout('user_left', member), 'user_left')
    same('the message', { ...received }, { type: 'user_left', user_id: id, username: user.username })
  },
)
const isAbout =
  (type: string, { id }: Person) =>
  (message: Message) =>
    message.type === type && message['user_id'] === id

row('6.4-4-disconnect', 'Presence is removed on disconnect.', async (service) => {
  const { owner, member, board_id } = await newStage(service)
  const leaving = await member.follow(board_id)
  await secondsUntil(() => isOnline(owner, board_id, member), 5, 'not present')
  await leaving.close()
  await secondsUntil(async () => !(await isOnline(owner, board_id, member)), 5, 'still present')
})
row(
  '6.4-5',
  'The only client message the server acts on is pong: others change nothing, and reach nobody.',
  async (service) => {
    const { owner, member, at, board_id } = await newStage(service)
    using speaker = await member.follow(board_id)
    using listener = await owner.follow(board_id)
    const before = listener.received.length
    speaker.say({ type: 'card.created', data: { id: crypto.randomUUID() }, user_id: owner.id, version: '1.0' })
    speaker.say({ type: 'user_left', user_id: owner.id, username: owner.user.username })
    speaker.say('what is this')
    speaker.say({ type: 'pong' })
    await pause(300)
    // The server's own heartbeat may arrive at any time.
    const heard = listener.messages.slice(before).filter((message) => !isPing(message))
    same('what others heard', heard, [])
    await owner.patch(at(), { title: 'New' })
    await speaker.event('board.updated')
  },
)

const isPing = ({ type }: Message) => type === 'ping'
const pingsOf = (listener: Listener) => listener.received.filter(({ message }) => isPing(message))
/** Seconds between the connects of two users to one board. */
const BETWEEN_CONNECTS_S = 8

/**
 * Two users follow a board, one some seconds after the other, and answer pings for two heartbeats. Once, for all rows that speak
 * of it.
 */
export async function heartbeat(service: Service) {
  const { owner, member, board_id } = await newStage(service)
  using listener = await member.follow(board_id)
  const started = performance.now()
  await pause(BETWEEN_CONNECTS_S * 1_000)
  using second = await owner.follow(board_id)
  const secondStarted = performance.now()
  await secondsUntil(async () => pingsOf(listener).length > 1 && pingsOf(second).length > 0, 75, 'pings are missing')
  const [[ping, next], [pingOfSecond]] = [pingsOf(listener), pingsOf(second)]
  demand(ping !== undefined && next !== undefined && pingOfSecond !== undefined, 'there are no pings')
  // Longer than the lifetime of a presence without refresh, and longer than the server waits for a pong.
  await pause(Math.max(72_000 - (performance.now() - started), 12_000))
  return {
    board_id,
    ping: ping.message,
    /** From the connect of each user to their first ping. */
    secondsUntilPing: [(ping.atMs - started) / 1_000, (pingOfSecond.atMs - secondStarted) / 1_000],
    seconds: (next.atMs - ping.atMs) / 1_000,
    isOpen: listener.isOpen && second.isOpen,
    isPresent: await isOnline(owner, board_id, member),
  }
}
/** Connects to a board and never answers pings. */
export async function silence(service: Service) {
  const { owner, member, board_id } = await newStage(service)
  using listener = await member.follow(board_id, { pongs: false })
  const ping = await listener.next(({ type }) => type === 'ping', 'ping', 45_000)
  const atMs = listener.received.find(({ message }) => message === ping)?.atMs ?? 0
  const ended = await listener.end(20_000)
  const secondsUntilGone = await secondsUntil(
    async () => !(await isOnline(owner, board_id, member)),
    65,
    'still present',
  )
  return { secondsUntilClosed: (ended.atMs - atMs) / 1_000, secondsUntilGone }
}
/** Tolerance for the clocks of two machines and periodic checks of the server. */
const LEEWAY_S = 3
export const isAbout_s = (what: string, seconds: number, expected: number) =>
  demand(Math.abs(seconds - expected) <= LEEWAY_S, `${what} is ${seconds.toFixed(1)} s instead of ${expected} s`)

const waits = { waits: true }
row(
  '6.4-3-ping',
  'Every 30 seconds the server sends {type: ping, board_id}, and nothing else in it.',
  async (service) => {
    const { ping, board_id, seconds } = await service.once(heartbeat)
    same('the ping', { ...ping }, { type: 'ping', board_id })
    isAbout_s('the time between two pings', seconds, 30)
  },
  waits,
)
row(
  '6.4-3-pong',
  'A client that responses {type: pong} stays connected.',
  async (service) => {
    same('whether it is open', (await service.once(heartbeat)).isOpen, true)
  },
  waits,
)
row(
  '6.4-3-no-pong',
  'When no pong arrives within 10 seconds, the server closes the connection.',
  async (service) => {
    isAbout_s('the time from ping to close', (await service.once(silence)).secondsUntilClosed, 10)
  },
  waits,
)
row(
  '6.4-4-refreshed',
  'Presence is refreshed by the heartbeat: after more than 60 seconds a user who answers pings is still present.',
  async (service) => {
    same('whether the user is present', (await service.once(heartbeat)).isPresent, true)
  },
  waits,
)
row(
  '6.4-4-dead',
  'A connection that dies without a close frame disappears from presence after at most 60 seconds.',
  async (service) => {
    const { owner, member, board_id } = await newStage(service)
    const dying = await member.follow(board_id)
    await secondsUntil(() => isOnline(owner, board_id, member), 5, 'not present')
    dying[Symbol.dispose]()
    await secondsUntil(async () => !(await isOnline(owner, board_id, member)), 60 + LEEWAY_S, 'still present')
  },
  waits,
)
row(
  '6.4-4-silent',
  'A connection that falls silent disappears from presence too.',
  async (service) => {
    const { secondsUntilGone } = await service.once(silence)
    demand(secondsUntilGone <= 60 + LEEWAY_S, `it took ${secondsUntilGone} s after the close`)
  },
  waits,
)
