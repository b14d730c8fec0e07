import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '@lockstep/testing/random'
import type { Instance, World } from './environment.ts'
import { type FaultKind, type History, now } from './history.ts'
import type { Listener } from './listeners.ts'

/** How long faults last, in milliseconds. */
export interface Durations {
  freeze: number
  redis: number
  lose: number
  gap: number
}

interface Scene {
  world: World
  history: History
  listeners: Listener[]
  random: Random
  durations: Durations
}
interface Blow {
  instance?: number
  detail?: string
  /** The fault is over when this is. */
  over: Promise<unknown>
}

/** What can go wrong. Each begins, and says when it is over. */
const blows: Record<FaultKind, (scene: Scene) => Promise<Blow>> = {
  'kill instance': async ({ world, random }) => {
    const instance = random.pick(world.instances)
    instance.is_open = false
    const over = instance.process.end('SIGKILL').then(() => world.start(instance.index))
    return { instance: instance.index, over }
  },
  'drain instance': async ({ world, random }) => {
    const instance = random.pick(world.instances)
    return { instance: instance.index, over: drain(world, instance).then(() => world.start(instance.index)) }
  },
  'freeze instance': async ({ world, random, durations }) => {
    const { index, process } = random.pick(world.instances)
    process.signal('SIGSTOP')
    return { instance: index, over: pause(durations.freeze).then(() => process.signal('SIGCONT')) }
  },
  'kill Redis': async ({ world, durations }) => {
    const start = await world.redis.kill()
    return { over: pause(durations.redis).then(start) }
  },
  'freeze Redis': async ({ world, durations }) => {
    const thaw = await world.redis.freeze()
    return { over: pause(durations.freeze).then(thaw) }
  },
  'cut subscriptions': async ({ world }) => ({ over: world.redis.cutSubscriptions() }),
  'lose messages': async ({ world, random, durations }) => {
    const share = 0.01 + 0.29 * random.next()
    world.redis.lose?.(share)
    const over = pause(durations.lose).then(() => world.redis.lose?.(0))
    return { detail: `${Math.round(share * 100)} %`, over }
  },
  'fail over': async ({ world }) => ({ over: world.redis.failOver?.() ?? Promise.resolve() }),
  'restart PostgreSQL': async ({ world: { postgres } }) => {
    await postgres.process().end('SIGQUIT')
    return { over: postgres.start() }
  },
  'end backends': async ({ world }) => ({
    over: world.sql.query(
      `select pg_terminate_backend(pid) from (
         select pid from pg_stat_activity where application_name = 'lockstep' order by random() limit 10) chosen`,
    ),
  }),
  'reset clients': async ({ listeners, random }) => {
    for (const listener of listeners) if (random.next() < 0.4) listener.reset()
    return { over: Promise.resolve() }
  },
  'remove member': async (scene) => ({ over: removeGuest(scene) }),
}

/** Taken out of service first, as a balancer would; what is under way then must still be answered. */
async function drain(world: World, instance: Instance) {
  instance.is_open = false
  const code = await instance.process.end('SIGTERM')
  if (code !== 0) world.outputs.push(`unhandled: an instance that was drained ended with ${code}`)
}

/** Removes the guest from a board while events stream, and lets him back in. */
async function removeGuest({ world, history, random }: Scene) {
  const { id: board_id } = random.pick(world.boards)
  const { id: user_id } = world.guest
  const last = async (type: string) => {
    const { rows } = await world.sql.query(
      `select seq::int, extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as at from board_events
       where board_id = $1 and type = $2 and subject_id = $3 order by seq desc limit 1`,
      [board_id, type, user_id],
    )
    return rows[0] as { seq: number; at: number }
  }
  // An answer may be lost on the way: it is asked again until it is certain.
  const until = async (statuses: number[], act: () => Promise<{ status: number }>) => {
    for (let tries = 0; tries < 50; tries++) {
      const status = await act().then(
        (answer) => answer.status,
        () => 0,
      )
      if (statuses.includes(status)) return
      await pause(100)
    }
    throw new Error(`The guest of ${board_id} could not be removed or let in`)
  }
  const owner = () => world.api(world.owner)
  await until([204, 404], () => owner().send('removeMember', { params: { board_id, user_id } }))
  const removed = await last('board.member_removed')
  const removal = { board_id, user_id, ...removed, back_seq: Infinity, back_at: Infinity }
  history.removals.push(removal)
  await pause(1_500)
  await until([200, 201, 409], () => owner().send('inviteMember', { params: { board_id }, body: { user_id } }))
  const back = await last('board.member_added')
  Object.assign(removal, { back_seq: back.seq, back_at: back.at })
}

/** Lets one thing happen and waits until it is over. */
export async function strike(scene: Scene, kind: FaultKind) {
  const fault = { kind, began: now(), ended: Infinity, instance: undefined as number | undefined, detail: '' }
  scene.history.faults.push(fault)
  const { instance, detail = '', over } = await blows[kind](scene)
  Object.assign(fault, { instance, detail })
  await over
  fault.ended = now()
}

/** Every fault that this Redis allows, in an order that the seed decides: once, or again and again until the time is up. */
export async function wreak(scene: Scene, until: number | 'once', say: (line: string) => void) {
  const { lose, failOver } = scene.world.redis
  const kinds = (Object.keys(blows) as FaultKind[]).filter(
    (kind) => (kind !== 'lose messages' || lose) && (kind !== 'fail over' || failOver),
  )
  do {
    for (const kind of scene.random.shuffled(kinds)) {
      await pause(scene.durations.gap * (0.5 + scene.random.next()))
      if (until !== 'once' && now() >= until) return
      say(kind)
      await strike(scene, kind)
    }
  } while (until !== 'once')
}
