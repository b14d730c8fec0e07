import { setTimeout as pause } from 'node:timers/promises'
import { seeded } from '@lockstep/testing/random'
import { median, percentile } from '@lockstep/testing/statistics'
import { type Delay, delaysOf } from './check-delivery.ts'
import type { FaultEnvironment, Instance } from './environment.ts'
import { type Fault, type FaultKind, type History, now, type Write } from './history.ts'
import { finishRun, newHistory, type Outcome, observe, startListeners, waitUntilConnected } from './run.ts'
import { startWriters } from './writers.ts'

const LISTENERS = { numbered: 15, plain: 6, slow: 0 }
/** The bound of LIVE-9. */
const WITHOUT_REDIS_MS = 1_000
const LOST_MESSAGE_MS = 2_500
const SLOWER = 1.2

export interface Figures {
  violations: string[]
  writes: number
  failed: number
  events: number
  p50Ms: number
  p99Ms: number
  worstMs: number
}

/** Runs `work` under load with listeners, waits for delivery, and runs the checkers. */
async function underLoad(
  environment: FaultEnvironment,
  { seed, rate }: { seed: number; rate: number },
  work: (history: History) => Promise<void>,
): Promise<Outcome> {
  const random = seeded(seed)
  const history = newHistory(environment, seed)
  const stopObserving = observe(environment, history, random)
  const listeners = startListeners(environment, history, random, LISTENERS)
  await waitUntilConnected(listeners)
  const writers = startWriters(environment, history, random, { rate })
  await pause(500)
  await work(history)
  await writers.stop()
  await pause(1_000)
  stopObserving()
  return finishRun(environment, history, listeners)
}

async function recordFault(history: History, kind: FaultKind, work: () => Promise<void>): Promise<Fault> {
  const fault: Fault = { kind, began: now(), ended: Infinity, instance: undefined, detail: '' }
  history.faults.push(fault)
  await work()
  fault.ended = now()
  return fault
}

/** Delivery times of the events in some periods. The longest must be within the bound. */
function figuresOf({ history, dump, violations }: Outcome, spans: Fault[], bound: number): Figures {
  const isWithin = (at: number) => spans.some(({ began, ended }) => at >= began && at <= ended)
  const delays = delaysOf(history, dump).filter((delay) => isWithin(delay.committed))
  const writes = history.writes.filter((write) => isWithin(write.began))
  const failed = history.writes.filter((write) => write.outcome !== 'ok')
  const late = delays.filter((delay) => delay.ms > bound)
  const times = delays.map((delay) => delay.ms)
  return {
    violations: [
      ...violations,
      ...failed.map(({ marker, detail }) => `${marker} failed: ${detail}`),
      ...late.slice(0, 5).map((delay) => lateness(delay, bound)),
    ],
    writes: writes.length,
    failed: failed.length,
    events: delays.length,
    p50Ms: percentile(times, 50),
    p99Ms: percentile(times, 99),
    worstMs: Math.max(0, ...times),
  }
}
const lateness = ({ connection, seq, ms }: Delay, bound: number) =>
  `connection ${connection.id} (${connection.kind}) was given ${seq} after ${Math.round(ms)} ms, over ${bound}`

/**
 * Kills or freezes Redis under load, alternating with periods in which it works. No write may fail, and every event
 * must arrive once within a second. With several rounds, the durations of writes are compared too.
 */
export async function stopRedis(
  environment: FaultEnvironment,
  how: 'kill' | 'freeze',
  { rounds, roundMs, ...load }: { seed: number; rate: number; rounds: number; roundMs: number },
): Promise<Figures & { wellMs: number; awayMs: number; ratio: number }> {
  const away: Fault[] = []
  const well: [number, number][] = []
  const saidBefore = environment.instances.map(countRedisErrors)
  const outcome = await underLoad(environment, load, async (history) => {
    for (let i = 0; i < rounds; i++) {
      const from = now()
      if (rounds > 1) await pause(roundMs)
      well.push([from, now()])
      away.push(
        await recordFault(history, how === 'kill' ? 'kill Redis' : 'freeze Redis', async () => {
          const back = await environment.redis[how]()
          await pause(roundMs)
          await back()
        }),
      )
      // Until all instances are subscribed again.
      await pause(1_500)
    }
  })
  const medians = (spans: [number, number][]) =>
    spans.map(([from, to]) => medianTime(outcome.history.writes.filter((w) => w.began >= from && w.ended <= to)))
  const wellTimes = medians(well)
  const awayTimes = medians(away.map(({ began, ended }) => [began, ended]))
  // Each period without Redis is compared with the one right before it, so that other load on the machine cancels out.
  const ratios = awayTimes.map((time, i) => time / (wellTimes[i] ?? time))
  const figures = figuresOf(outcome, away, WITHOUT_REDIS_MS)
  const ratio = rounds > 1 ? median(ratios) : 0
  for (const instance of environment.instances) {
    const detail = countRedisErrors(instance) - (saidBefore[instance.index] ?? 0)
    if (detail > rounds) figures.violations.push(`instance ${instance.index} detail ${detail} times that Redis is away`)
  }
  if (ratio > SLOWER) figures.violations.push(`writes took ${ratio.toFixed(2)} times as long without Redis`)
  return { ...figures, wellMs: median(wellTimes), awayMs: median(awayTimes), ratio }
}
const countRedisErrors = ({ process }: Instance) => process.output().split('Redis cannot be reached').length - 1
const medianTime = (writes: Write[]) => median(writes.map(({ began, ended }) => ended - began))

/** Drops a share of the messages. */
export async function loseMessages(
  environment: FaultEnvironment,
  { share, ms, ...load }: { seed: number; rate: number; ms: number; share: number },
): Promise<Figures & { lost: number }> {
  const spans: Fault[] = []
  const before = environment.redis.lost()
  const outcome = await underLoad(environment, load, async (history) => {
    const losing = async () => {
      environment.redis.lose?.(share)
      await pause(ms)
      environment.redis.lose?.(0)
    }
    spans.push(await recordFault(history, 'lose messages', losing))
    await pause(LOST_MESSAGE_MS)
  })
  return { ...figuresOf(outcome, spans, LOST_MESSAGE_MS), lost: environment.redis.lost() - before }
}
