import { setTimeout as pause } from 'node:timers/promises'
import { type Account, newAccount } from '@lockstep/testing/accounts'
import { eventually } from '@lockstep/testing/processes'
import { seeded } from '@lockstep/testing/random'
import { WebSocket } from 'ws'
import type { FaultEnvironment, HarnessBoard, Instance } from './environment.ts'
import { now } from './history.ts'
import { Listener } from './listeners.ts'
import { newHistory } from './run.ts'

/** The bound of PRES-4. */
const LEFT_MS = 65_000

interface Presence {
  type: string
  user_id: string
  at: number
}

/** A socket that records presence messages. */
async function watch({ process }: Instance, board: HarnessBoard, { token }: Account) {
  const socket = new WebSocket(`${process.baseUrl.replace('http', 'ws')}/ws/boards/${board.id}?token=${token}`)
  const presence: Presence[] = []
  socket.on('error', () => {})
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Presence
    if (message.type === 'ping') socket.send('{"type":"pong"}')
    else if (message.type.startsWith('user_')) presence.push({ ...message, at: now() })
  })
  await eventually('the observer is connected', () => presence.length > 0)
  return { presence, close: () => socket.terminate() }
}

async function newMember(environment: FaultEnvironment, board: HarnessBoard, name: string): Promise<Account> {
  const api = environment.api(environment.owner)
  const user = await newAccount(api.baseUrl, name)
  await api.call('inviteMember', { params: { board_id: board.id }, body: { user_id: user.id } })
  return user
}

/** Drains an instance with connected users, who reconnect to another instance. They must not be announced as gone. */
export async function drainWithoutFlapping(
  environment: FaultEnvironment,
  { seed, watchMs }: { seed: number; watchMs: number },
) {
  const random = seeded(seed)
  const history = newHistory(environment, seed)
  const board = environment.boards[1] as HarnessBoard
  const [going, staying] = environment.instances as [Instance, Instance]
  const observer = await watch(staying, board, environment.owner)
  const about = { environment, history, random, bodies: new Map<string, string>() }
  const users = [
    await newMember(environment, board, `drained-${seed}-1`),
    await newMember(environment, board, `drained-${seed}-2`),
  ]
  const listeners = users.map((user, i) => new Listener(i, 'numbered', board, user, about))
  for (const listener of listeners) listener.connect(going.index)
  const hasReceived = (type: string, { id }: Account) =>
    observer.presence.some((m) => m.type === type && m.user_id === id)
  await eventually('the users are seen', () => users.every((user) => hasReceived('user_joined', user)))

  going.isInRotation = false
  const exitCode = await going.process.end('SIGTERM')
  await eventually('they are back', () =>
    listeners.every(({ connection }) => connection?.instance !== going.index && connection?.opened !== undefined),
  )
  await pause(watchMs)
  const codes = history.connections.filter((c) => c.closed !== undefined).map((c) => c.code)
  const flapped = users.filter((user) => hasReceived('user_left', user))
  for (const listener of listeners) listener.close()
  observer.close()
  await environment.start(going.index)
  return {
    violations: [
      ...flapped.map(({ id }) => `${id} was announced as gone during a drain`),
      ...codes.filter((code) => code !== 1012).map((code) => `a drain closed with ${code}`),
      ...(exitCode === 0 ? [] : [`a drained instance ended with ${exitCode}`]),
    ],
    users: users.length,
    watched_ms: watchMs,
  }
}

/** Kills an instance. Its users, who do not reconnect, must be announced as gone in time. */
export async function crashPresence(environment: FaultEnvironment, { seed }: { seed: number }) {
  const board = environment.boards[2] as HarnessBoard
  const [dying, staying] = environment.instances as [Instance, Instance]
  const observer = await watch(staying, board, environment.owner)
  const users = [
    await newMember(environment, board, `crashed-${seed}-1`),
    await newMember(environment, board, `crashed-${seed}-2`),
  ]
  const sockets = await Promise.all(users.map((user) => watch(dying, board, user)))
  const seen = (type: string, { id }: Account) => observer.presence.find((m) => m.type === type && m.user_id === id)
  await eventually('the users are seen', () => users.every((user) => seen('user_joined', user)))

  const killed = now()
  dying.isInRotation = false
  await dying.process.end('SIGKILL')
  while (now() - killed < LEFT_MS + 2_000 && !users.every((user) => seen('user_left', user))) await pause(50)
  for (const socket of [...sockets, observer]) socket.close()
  await environment.start(dying.index)
  const left = users.map((user) => (seen('user_left', user)?.at ?? Infinity) - killed)
  return {
    violations: left.filter((ms) => ms > LEFT_MS).map((ms) => `a user of a killed instance left after ${ms} ms`),
    leftAfterMs: Math.max(...left),
  }
}
