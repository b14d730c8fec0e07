import type { JsonText } from '@lockstep/contract/operation'
import { type Webhook, webhookOperations } from '@lockstep/contract/webhooks'
import type { Caller } from '../core/authorize.ts'
import type { Db } from '../database/database.ts'
import { slotOf } from '../http/edge/admission-middleware.ts'
import type { Handlers } from '../http/handler.ts'
import { readPage } from '../http/read-page.ts'
import { Problem } from '../platform/problem.ts'
import { Semaphore } from '../platform/semaphore.ts'
import { waitWithout } from '../platform/slot.ts'
import type { RateLimits } from '../security/rate-limits.ts'
import { refusedUrl } from './outgoing.ts'
import { listDeliveries, listWebhooks, readWebhook } from './webhook-queries.ts'
import {
  changeWebhook,
  createWebhook,
  readSecret,
  removeWebhook,
  resume,
  rotate,
  sendTest,
  type Webhooks,
} from './webhook-steps.ts'

const CONCURRENT_TESTS = 10
const TEST_LIMIT = { maxWaiting: 20, waitMs: 5_000, reject: () => new Problem('overloaded') }

/** `webhooks` is undefined if the operator has not enabled them. */
export function webhookHandlers(
  webhooks: Webhooks | undefined,
  limits: RateLimits,
): Handlers<typeof webhookOperations> {
  const required = (): Webhooks => {
    if (!webhooks) throw new Problem('webhooks_off')
    return webhooks
  }
  /** The URL itself; where its name leads is checked when something is sent. */
  const requireUrl = (url: string | undefined) => {
    const refusal = url === undefined ? undefined : refusedUrl(url, required().outgoingSettings)
    if (refusal !== undefined) throw new Problem('url_refused', { detail: refusal })
  }
  const requireWebhook = async (db: Db, key: { board_id: string; id: string }): Promise<JsonText<Webhook>> => {
    const webhook = await readWebhook(db, key)
    if (!webhook) throw new Problem('webhook_not_found')
    return webhook
  }
  const requireChange = async ({ id }: Caller) => {
    const services = required()
    const excess = await limits.webhookChange(id)
    if (excess) throw excess
    return services
  }
  const tests = new Semaphore(CONCURRENT_TESTS, TEST_LIMIT)

  return {
    async createWebhook({ caller, board_id, body: { name, url, kinds, is_enabled, after } }) {
      requireUrl(url)
      const fields = { name, url, kinds: kinds ?? null, is_enabled: is_enabled ?? true, after: after ?? 'now' }
      return createWebhook(await requireChange(caller), caller, { board_id, ...fields })
    },

    async listWebhooks(context) {
      required()
      const { db, board_id } = context
      return readPage(webhookOperations.listWebhooks, context, (page) => listWebhooks(db, board_id, page))
    },

    async getWebhook({ db, board_id, params: { webhook_id: id } }) {
      required()
      return requireWebhook(db, { board_id, id })
    },

    async updateWebhook({ caller, board_id, params: { webhook_id: id }, body }) {
      requireUrl(body.url)
      return changeWebhook(await requireChange(caller), caller, { board_id, id }, body)
    },

    async deleteWebhook({ caller, board_id, params: { webhook_id: id } }) {
      await removeWebhook(await requireChange(caller), caller, { board_id, id })
    },

    async resumeWebhook({ caller, board_id, params: { webhook_id: id }, body: { after } }) {
      return resume(await requireChange(caller), caller, { board_id, id }, after ?? undefined)
    },

    async getWebhookSecret({ caller, board_id, params: { webhook_id: id } }) {
      return readSecret(await requireChange(caller), caller, { board_id, id })
    },

    async rotateWebhookSecret({ caller, board_id, params: { webhook_id: id }, body: { keep_old_hours } }) {
      return rotate(await requireChange(caller), caller, { board_id, id }, keep_old_hours ?? 24)
    },

    async testWebhook({ db, board_id, params: { webhook_id: id }, request }) {
      const services = required()
      await requireWebhook(db, { board_id, id })
      const excess = await limits.webhookTest(id)
      if (excess) throw excess
      const send = () => tests.run(() => sendTest(services, db, { board_id, id }))
      return waitWithout(slotOf(request), send)
    },

    async listDeliveries(context) {
      required()
      const { db, board_id, params, query } = context
      const { webhook_id } = params
      await requireWebhook(db, { board_id, id: webhook_id })
      const is_accepted = query.is_accepted === undefined ? null : query.is_accepted === 'true'
      return readPage(webhookOperations.listDeliveries, context, (page) =>
        listDeliveries(db, { board_id, webhook_id, is_accepted, ...page }),
      )
    },
  }
}
