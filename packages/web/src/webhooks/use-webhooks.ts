import { type CreateWebhookInput, isLockstepError, type UpdateWebhookInput, type Webhook } from '@lockstep/client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { client } from '../session.ts'

const POLL_MS = 5_000

export type WebhookInput = Omit<CreateWebhookInput, 'board_id'>
export type WebhookChanges = Omit<UpdateWebhookInput, 'board_id' | 'webhook_id'>
export type WebhookActions = ReturnType<typeof useWebhooks>['actions']

/** The webhooks of a board. Their state is not part of the live board, so it is polled while the page is visible. */
export function useWebhooks(board_id: string, isOffline: boolean) {
  const [webhooks, setWebhooks] = useState<readonly Webhook[]>()
  const [failure, setFailure] = useState<unknown>()
  const isOff = isLockstepError(failure, 'webhooks_off')
  /** Counts local changes: a list that was requested before a change may not contain it. */
  const changes = useRef(0)
  const isLoading = useRef(false)
  const load = useCallback(async () => {
    if (isLoading.current) return
    isLoading.current = true
    const requestedAt = changes.current
    try {
      const found = await client.listWebhooks({ board_id }, { maxTries: 1 })
      if (requestedAt === changes.current) setWebhooks(found)
      setFailure(undefined)
    } catch (error) {
      // It asks again in five seconds.
      if (!isLockstepError(error, 'too_many_requests')) setFailure(error)
    }
    isLoading.current = false
  }, [board_id])
  useEffect(() => {
    if (isOffline || isOff) return
    const loadIfVisible = () => {
      if (document.visibilityState === 'visible') void load()
    }
    loadIfVisible()
    const timer = setInterval(loadIfVisible, POLL_MS)
    document.addEventListener('visibilitychange', loadIfVisible)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', loadIfVisible)
    }
  }, [load, isOffline, isOff])

  const change = async <T>(
    work: Promise<T>,
    show: (webhooks: readonly Webhook[], result: T) => readonly Webhook[],
  ): Promise<T> => {
    changes.current++
    const result = await work
    changes.current++
    setWebhooks((now = []) => show(now, result))
    return result
  }
  const actions = {
    create: (input: WebhookInput) => change(client.createWebhook({ board_id, ...input }), withWebhook),
    update: (webhook_id: string, changed: WebhookChanges) =>
      change(client.updateWebhook({ board_id, webhook_id, ...changed }), withWebhook),
    resume: (webhook_id: string, after?: 'now') =>
      change(client.resumeWebhook({ board_id, webhook_id, ...(after && { after }) }), withWebhook),
    replaceSecret: (webhook_id: string) => change(client.rotateWebhookSecret({ board_id, webhook_id }), withWebhook),
    remove: async (webhook_id: string) => {
      const work = client.deleteWebhook({ board_id, webhook_id }).catch((error: unknown) => {
        // It was deleted elsewhere, or by an attempt whose response was lost.
        if (!isLockstepError(error, 'webhook_not_found')) throw error
      })
      await change(work, (now) => now.filter(({ id }) => id !== webhook_id))
    },
  }
  return { webhooks, failure, isOff, load: () => void load(), actions }
}

/** Replaces the webhook in the list, or appends it. */
const withWebhook = (webhooks: readonly Webhook[], webhook: Webhook) =>
  webhooks.some(({ id }) => id === webhook.id)
    ? webhooks.map((each) => (each.id === webhook.id ? webhook : each))
    : [...webhooks, webhook]
