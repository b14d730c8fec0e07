import type { Metrics } from '../telemetry/metrics.ts'
import { BoardSocket } from './board-socket.ts'
import type { Bus } from './bus.ts'
import type { Hub, HubEnvironment, LiveEvent, Taken } from './hub.ts'

const stamp = /"timestamp":"([^"]+)","version":"[^"]*"\}$/

/**
 * When an event was committed, as far as another instance can know: its own time, which PostgreSQL took under the board's
 * lock, shortly before the commit. Every message holds it, whatever the version of the instance that sent it.
 */
export const eventTime = ({ body }: LiveEvent): number => Date.parse(stamp.exec(body.slice(-80))?.[1] ?? '')

/** How long an event took, in seconds; undefined if that cannot be known. Clocks that disagree never make it negative. */
export function delayOf({ event }: Taken, now: { monotonicMs: number; wallMs: number }): number | undefined {
  const { committedAt } = event
  const ms = committedAt === undefined ? now.wallMs - eventTime(event) : now.monotonicMs - committedAt
  return Number.isNaN(ms) ? undefined : Math.max(0, ms) / 1_000
}

/** Measures from the commit to the last socket of this instance, once for each event. */
export const deliveryObserver = ({ meters }: Metrics): NonNullable<HubEnvironment['delivered']> => {
  return (taken) => {
    const seconds = delayOf(taken, { monotonicMs: performance.now(), wallMs: Date.now() })
    if (seconds !== undefined) meters.lockstep_delivery_seconds.observe({ source: taken.source }, seconds)
  }
}

interface LiveParts {
  hub: Hub
  bus: Bus | undefined
  sockets: () => number
}

/** Looks at the real-time half when somebody asks: nothing is counted twice, and nobody is counted one by one. */
export function observeLive(metrics: Metrics, { hub, bus, sockets }: LiveParts) {
  const { meters } = metrics
  metrics.onScrape(() => {
    const { counts } = hub
    const { boards, slow } = hub.state()
    const buffered = slow.map((viewer) => (viewer instanceof BoardSocket ? viewer.bufferedBytes : 0))
    meters.lockstep_sockets.set({}, sockets())
    meters.lockstep_live_boards.set({}, boards)
    meters.lockstep_slow_clients.set({}, slow.length)
    meters.lockstep_slow_client_buffered_bytes.set(
      {},
      buffered.reduce((sum, bytes) => sum + bytes, 0),
    )
    meters.lockstep_deliveries_total.total({}, counts.delivered)
    meters.lockstep_log_fills_total.total({}, counts.fills)
    meters.lockstep_log_fill_events_total.total({}, counts.filled)
    meters.lockstep_log_pages_total.total({}, counts.pages)
    meters.lockstep_socket_resyncs_total.total({}, counts.resyncs)
    for (const source of ['nothing_missed', 'ring', 'log'] as const) {
      meters.lockstep_socket_resumes_total.total({ source }, counts.resumed[source])
    }
    if (!bus) return
    meters.lockstep_redis_suspect.set({}, bus.isSuspect ? 1 : 0)
    meters.lockstep_redis_canary_age_seconds.set({}, (performance.now() - bus.heard_at) / 1_000)
    for (const direction of ['sent', 'received', 'dropped'] as const) {
      meters.lockstep_redis_messages_total.total({ direction }, bus.counts[direction])
    }
  })
}
