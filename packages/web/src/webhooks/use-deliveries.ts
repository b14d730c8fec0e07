import type { Webhook, WebhookDelivery } from '@lockstep/client'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { client } from '../session.ts'

const PAGE_SIZE = 20

interface DeliveryLog {
  /** Newest first. */
  deliveries: readonly WebhookDelivery[]
  /** Query parameters of the next page. */
  next: Record<string, string> | undefined
}

/** The deliveries of a webhook, in pages. Loaded again when an attempt has changed the webhook, and after a test. */
export function useDeliveries(webhook: Webhook, isOnlyFailed: boolean, tests: number) {
  const { board_id, id: webhook_id, position, failed_attempts, last_delivered_at } = webhook
  const [log, setLog] = useState<DeliveryLog>()
  const [failure, setFailure] = useState<unknown>()
  const [isLoadingMore, setLoadingMore] = useState(false)
  const read = useCallback(
    async (next: Record<string, string> = {}): Promise<DeliveryLog> => {
      const filter = isOnlyFailed ? ({ is_accepted: 'false' } as const) : {}
      const input = { board_id, webhook_id, limit: PAGE_SIZE, ...filter, ...next }
      const page = await client.request('listDeliveries', input)
      return { deliveries: page.data, next: page.next }
    },
    [board_id, webhook_id, isOnlyFailed],
  )
  /** A response for an earlier filter is of no use. */
  const latest = useRef(read)
  useLayoutEffect(() => {
    latest.current = read
  }, [read])
  const show = useCallback(
    async (
      response: Promise<DeliveryLog>,
      join: (loaded: DeliveryLog, now: DeliveryLog | undefined) => DeliveryLog,
    ) => {
      try {
        const loaded = await response
        if (latest.current !== read) return
        setLog((now) => join(loaded, now))
        setFailure(undefined)
      } catch (error) {
        if (latest.current === read) setFailure(error)
      }
    },
    [read],
  )
  const shownBy = useRef(read)
  const load = useCallback(() => {
    const isSame = shownBy.current === read
    shownBy.current = read
    void show(read(), (newest, now) => (isSame ? joined(newest, now) : newest))
  }, [read, show])
  // biome-ignore lint/correctness/useExhaustiveDependencies: each of them means that something was sent
  useEffect(load, [load, position, failed_attempts, last_delivered_at, tests])

  const loadMore = async () => {
    if (!log?.next || isLoadingMore) return
    setLoadingMore(true)
    await show(read(log.next), (more, now) => ({
      deliveries: [...(now?.deliveries ?? []), ...more.deliveries],
      next: more.next,
    }))
    setLoadingMore(false)
  }
  return { log, failure, isLoadingMore, load, loadMore }
}

/** Joins the newest page with the loaded ones if they overlap; otherwise the newest page alone. */
function joined(newest: DeliveryLog, before: DeliveryLog | undefined): DeliveryLog {
  const last = newest.deliveries.at(-1)
  const at = before && last ? before.deliveries.findIndex(({ id }) => id === last.id) : -1
  if (!before || at < 0) return newest
  return { deliveries: [...newest.deliveries, ...before.deliveries.slice(at + 1)], next: before.next }
}
