import type { Metrics } from '../telemetry/metrics.ts'
import { BoardSocket } from './board-socket.ts'
import type { Bus } from './bus.ts'
import type { Hub } from './hub.ts'
import type { Delivery, HubEnvironment, LiveEvent } from './hub-environment.ts'

const timestamp = /"timestamp":"([^"]+)","version":"[^"]*"\}$/

/**
 * Commit time of an event from another instance: the timestamp in its body, which PostgreSQL set under the board lock,
 * shortly before the commit. Instances of any version include it.
 */
export const eventTime = ({ body }: LiveEvent): number => Date.parse(timestamp.exec(body.slice(-80))?.[1] ?? '')

/** Time since the commit in seconds; undefined if unknown. Clock skew never makes it negative. */
export function delayOf({ event }: Delivery, now: { monotonicMs: number; wallMs: number }): number | undefined {
  const { committedAt } = event
  const ms = committedAt === undefined ? now.wallMs - eventTime(event) : now.monotonicMs - committedAt
  return Number.isNaN(ms) ? undefined : Math.max(0, ms) / 1_000
}

/** Measures the time from the commit to the last socket of this instance, once per event. */
export const deliveryObserver = ({ meters }: Metrics): NonNullable<HubEnvironment['onDelivered']> => {
  return (delivery) => {
    const seconds = delayOf(delivery, { monotonicMs: performance.now(), wallMs: Date.now() })
    if (seconds !== undefined) meters.lockstep_delivery_seconds.observe({ source: delivery.source }, seconds)
  }
}

interface LiveParts {
  hub: Hub
  bus: Bus | undefined
  sockets: () => number
}

/** Reads the counters of the real-time half at each scrape. */
export function observeLive(metrics: Metrics, { hub, bus, sockets }: LiveParts) {
  const { meters } = metrics
  metrics.onScrape(() => {
    const { counts } = hub
    const { boards, slow } = hub.state()
    const buffered = slow.map((subscriber) => (subscriber instanceof BoardSocket ? subscriber.bufferedBytes : 0))
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
    meters.lockstep_redis_suspect.set({}, bus.isDegraded ? 1 : 0)
    meters.lockstep_redis_canary_age_seconds.set({}, (performance.now() - bus.lastCanaryAt) / 1_000)
    const { sent, received, dropped } = bus.counts
    meters.lockstep_redis_messages_total.total({ direction: 'sent' }, sent)
    meters.lockstep_redis_messages_total.total({ direction: 'received' }, received)
    meters.lockstep_redis_messages_total.total({ direction: 'dropped' }, dropped)
  })
}
