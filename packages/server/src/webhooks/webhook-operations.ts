import type { JsonText, Operation } from '@lockstep/contract/operation'
import { MAX_URL_LENGTH, type Webhook, webhookOperations } from '@lockstep/contract/webhooks'
import { lockAndCheckAccess } from '../core/authorize.ts'
import type { Db } from '../database/database.ts'
import { slotOf } from '../http/admission.ts'
import type { BoardContext, Handlers } from '../http/handler.ts'
import { readPage } from '../http/read-page.ts'
import { contextOf, type RequestContext } from '../http/request-context.ts'
import { Problem } from '../platform/problem.ts'
import { Semaphore } from '../platform/semaphore.ts'
import { waitWithout } from '../platform/slot.ts'
import type { RateLimits } from '../security/rate-limits.ts'
import { refusedUrl } from './outgoing.ts'
import { listDeliveries, listWebhooks, readWebhook } from './webhook-queries.ts'
import {
  type Changer,
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
/** A test of a slow receiver takes as long as `WEBHOOK_TIMEOUT_SECONDS`, so one user gets only some of them. */
const TESTS_PER_USER = 2
const TEST_LIMIT = { share: TESTS_PER_USER, maxWaiting: 20, waitMs: 5_000, reject: () => new Problem('overloaded') }

const keyOf = ({ board_id, params }: { board_id: string; params: { webhook_id: string } }) => ({
  board_id,
  id: params.webhook_id,
})

/** `webhooks` is undefined if the operator has not enabled them. */
export function webhookHandlers(
  webhooks: Webhooks | undefined,
  limits: RateLimits,
): Handlers<typeof webhookOperations> {
  const required = (): Webhooks => {
    if (!webhooks) throw new Problem('webhooks_off')
    return webhooks
  }
  /** The URL as it will be called. Only the URL itself is checked; where its name leads is checked when something is sent. */
  const requireUrl = (url: string): string => {
    const refusal = refusedUrl(url, required().outgoingSettings)
    if (refusal !== undefined) throw new Problem('url_refused', { detail: refusal })
    const { href } = new URL(url)
    if (href.length > MAX_URL_LENGTH)
      throw new Problem('url_refused', {
        detail: `As it is called, the URL has more than ${MAX_URL_LENGTH} characters.`,
      })
    return href
  }
  const requireWebhook = async (db: Db, key: { board_id: string; id: string }): Promise<JsonText<Webhook>> => {
    const webhook = await readWebhook(db, key)
    if (!webhook) throw new Problem('webhook_not_found')
    return webhook
  }
  /** What a change of a webhook needs, within the rate limit of the caller. */
  const requireChange = async ({
    caller,
    board_id,
    request,
  }: Pick<BoardContext<Operation>, 'caller' | 'board_id' | 'request'>): Promise<[Webhooks, Changer]> => {
    const services = required()
    const excess = await limits.webhookChange(caller.id)
    if (excess) throw excess
    const { accessRequest } = contextOf(request) as RequestContext
    const authorize = async (tx: Db) => (await lockAndCheckAccess(tx, board_id, accessRequest)).authorize()
    return [services, { caller, authorize }]
  }
  const tests = new Semaphore(CONCURRENT_TESTS, TEST_LIMIT)

  return {
    async createWebhook(context) {
      const { name, kinds, is_enabled, after } = context.body
      const url = requireUrl(context.body.url)
      const fields = { name, url, kinds: kinds ?? null, is_enabled: is_enabled ?? true, after: after ?? 'now' }
      return createWebhook(...(await requireChange(context)), { board_id: context.board_id, ...fields })
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

    async updateWebhook(context) {
      const { body } = context
      const changes = body.url === undefined ? body : { ...body, url: requireUrl(body.url) }
      return changeWebhook(...(await requireChange(context)), keyOf(context), changes)
    },

    async deleteWebhook(context) {
      await removeWebhook(...(await requireChange(context)), keyOf(context))
    },

    async resumeWebhook(context) {
      return resume(...(await requireChange(context)), keyOf(context), context.body.after ?? undefined)
    },

    async getWebhookSecret(context) {
      return readSecret(...(await requireChange(context)), keyOf(context))
    },

    async rotateWebhookSecret(context) {
      return rotate(...(await requireChange(context)), keyOf(context), context.body.keep_old_hours ?? 24)
    },

    async testWebhook({ db, caller, board_id, params: { webhook_id: id }, request }) {
      const services = required()
      await requireWebhook(db, { board_id, id })
      const excess = await limits.webhookTest(id)
      if (excess) throw excess
      const send = () => tests.run(() => sendTest(services, db, { board_id, id }), { key: caller.id })
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
