import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '@lockstep/testing/random'
import type { FaultEnvironment, Instance } from './environment.ts'
import { type FaultKind, type History, now } from './history.ts'
import type { Listener } from './listeners.ts'

/** How long faults last, in milliseconds. */
export interface Durations {
  freeze: number
  redis: number
  lose: number
  gap: number
}

interface FaultContext {
  environment: FaultEnvironment
  history: History
  listeners: Listener[]
  random: Random
  durations: Durations
}
interface StartedFault {
  instance?: number
  detail?: string
  /** Resolves when the fault is over. */
  ended: Promise<unknown>
}

/** All faults. Each function starts a fault, and returns a promise for its end. */
const faults: Record<FaultKind, (context: FaultContext) => Promise<StartedFault>> = {
  'kill instance': async ({ environment, random }) => {
    const instance = random.pick(environment.instances)
    instance.isInRotation = false
    const ended = instance.process.end('SIGKILL').then(() => environment.start(instance.index))
    return { instance: instance.index, ended }
  },
  'drain instance': async ({ environment, random }) => {
    const instance = random.pick(environment.instances)
    return {
      instance: instance.index,
      ended: drain(environment, instance).then(() => environment.start(instance.index)),
    }
  },
  'freeze instance': async ({ environment, random, durations }) => {
    const { index, process } = random.pick(environment.instances)
    process.signal('SIGSTOP')
    return { instance: index, ended: pause(durations.freeze).then(() => process.signal('SIGCONT')) }
  },
  'kill Redis': async ({ environment, durations }) => {
    const start = await environment.redis.kill()
    return { ended: pause(durations.redis).then(start) }
  },
  'freeze Redis': async ({ environment, durations }) => {
    const thaw = await environment.redis.freeze()
    return { ended: pause(durations.freeze).then(thaw) }
  },
  'cut subscriptions': async ({ environment }) => ({ ended: environment.redis.cutSubscriptions() }),
  'lose messages': async ({ environment, random, durations }) => {
    const share = 0.01 + 0.29 * random.next()
    environment.redis.lose?.(share)
    const ended = pause(durations.lose).then(() => environment.redis.lose?.(0))
    return { detail: `${Math.round(share * 100)} %`, ended }
  },
  'fail over': async ({ environment }) => ({ ended: environment.redis.failOver?.() ?? Promise.resolve() }),
  'restart PostgreSQL': async ({ environment: { postgres } }) => {
    await postgres.process().end('SIGQUIT')
    return { ended: postgres.start() }
  },
  'end backends': async ({ environment }) => ({
    ended: environment.sql.query(
      `select pg_terminate_backend(pid) from (
         select pid from pg_stat_activity where application_name = 'lockstep' order by random() limit 10) chosen`,
    ),
  }),
  'reset clients': async ({ listeners, random }) => {
    for (const listener of listeners) if (random.next() < 0.4) listener.reset()
    return { ended: Promise.resolve() }
  },
  'remove member': async (context) => ({ ended: removeGuest(context) }),
}

/** Removes the instance from rotation first, like a load balancer. Requests in flight must still be answered. */
async function drain(environment: FaultEnvironment, instance: Instance) {
  instance.isInRotation = false
  const code = await instance.process.end('SIGTERM')
  if (code !== 0) environment.outputs.push(`unhandled: an instance that was drained ended with ${code}`)
}

/** Removes the guest from a board while events are delivered, and invites the guest again. */
async function removeGuest({ environment, history, random }: FaultContext) {
  const { id: board_id } = random.pick(environment.boards)
  const { id: user_id } = environment.guest
  const last = async (type: string) => {
    const { rows } = await environment.sql.query(
      `select seq::int, extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as at from board_events
       where board_id = $1 and type = $2 and subject_id = $3 order by seq desc limit 1`,
      [board_id, type, user_id],
    )
    return rows[0] as { seq: number; at: number }
  }
  // A response may be lost: the request is repeated until its result is certain.
  const until = async (statuses: number[], act: () => Promise<{ status: number }>) => {
    for (let tries = 0; tries < 50; tries++) {
      const status = await act().then(
        (response) => response.status,
        () => 0,
      )
      if (statuses.includes(status)) return
      await pause(100)
    }
    throw new Error(`The guest of ${board_id} could not be removed or let in`)
  }
  const owner = () => environment.api(environment.owner)
  await until([204, 404], () => owner().send('removeMember', { params: { board_id, user_id } }))
  const removed = await last('board.member_removed')
  const removal = { board_id, user_id, ...removed, backSeq: Infinity, backAt: Infinity }
  history.removals.push(removal)
  await pause(1_500)
  await until([200, 201, 409], () => owner().send('inviteMember', { params: { board_id }, body: { user_id } }))
  const back = await last('board.member_added')
  Object.assign(removal, { backSeq: back.seq, backAt: back.at })
}

/** Injects one fault and waits until it is over. */
export async function injectFault(context: FaultContext, kind: FaultKind) {
  const fault = { kind, began: now(), ended: Infinity, instance: undefined as number | undefined, detail: '' }
  context.history.faults.push(fault)
  const { instance, detail = '', ended } = await faults[kind](context)
  Object.assign(fault, { instance, detail })
  await ended
  fault.ended = now()
}

/** Injects every fault that this Redis setup supports, in seeded order: once, or repeatedly until a time. */
export async function injectFaults(context: FaultContext, until: number | 'once', say: (line: string) => void) {
  const { lose, failOver } = context.environment.redis
  const kinds = (Object.keys(faults) as FaultKind[]).filter(
    (kind) => (kind !== 'lose messages' || lose) && (kind !== 'fail over' || failOver),
  )
  do {
    for (const kind of context.random.shuffled(kinds)) {
      await pause(context.durations.gap * (0.5 + context.random.next()))
      if (until !== 'once' && now() >= until) return
      say(kind)
      await injectFault(context, kind)
    }
  } while (until !== 'once')
}
