import { operations } from '@lockstep/contract'
import type { Operation } from '@lockstep/contract/operation'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { v7 as newUuid } from 'uuid'
import { adminHandlers } from './administration/admin-operations.ts'
import { startDayOfStatistics } from './administration/statistics-queries.ts'
import { attachmentHandlers } from './attachments/attachment-operations.ts'
import { deleteUnclaimedFiles } from './attachments/unclaimed-files.ts'
import { authHandlers } from './auth/auth-operations.ts'
import { automationHandlers } from './automations/automation-operations.ts'
import { deleteExpiredRuns } from './automations/automation-queries.ts'
import { BoardCache } from './boards/board-cache.ts'
import { boardHandlers } from './boards/board-operations.ts'
import { memberHandlers } from './boards/member-operations.ts'
import { cardHandlers } from './cards/card-operations.ts'
import { checklistHandlers } from './checklists/checklist-operations.ts'
import { itemHandlers } from './checklists/item-operations.ts'
import { columnHandlers } from './columns/column-operations.ts'
import { commentHandlers } from './comments/comment-operations.ts'
import type { Config } from './config/read-config.ts'
import { healthHandlers } from './health/health-operations.ts'
import type { Handlers } from './http/handler.ts'
import type { RouteDeps } from './http/route.ts'
import { registerRoutes } from './http/routes.ts'
import { buildServer } from './http/server.ts'
import { inboxHandlers } from './inbox/inbox-operations.ts'
import { deleteReadItems } from './inbox/inbox-queries.ts'
import { invitationHandlers } from './invitations/invitation-operations.ts'
import { deleteExpiredEvents, deleteExpiredLinks, deleteExpiredResponses } from './jobs/retention.ts'
import { startJobs } from './jobs/scheduler.ts'
import { labelHandlers } from './labels/label-operations.ts'
import { realtimeHandlers } from './realtime/realtime-operations.ts'
import { removalHandlers } from './removals/removal-operations.ts'
import { deleteExpiredTrash } from './removals/trash-retention.ts'
import { resourceReaders } from './resource-readers.ts'
import { accountHasher } from './security/account-hash.ts'
import { buildServices, type ServiceOptions, type Services } from './services.ts'
import { tokenHandlers } from './tokens/token-operations.ts'
import { deleteExpiredTokens } from './tokens/token-queries.ts'
import { userHandlers } from './users/user-operations.ts'
import { deleteExpiredDeliveries } from './webhooks/dispatch-queries.ts'
import { webhookHandlers } from './webhooks/webhook-operations.ts'

export interface AppOptions extends ServiceOptions {
  /** The timeout of a connection without traffic; shortened by tests. */
  stalledSeconds?: number
}

/** The whole service, ready to listen. The only module that knows every domain. */
export async function buildApp(config: Config, log: FastifyBaseLogger, options: AppOptions = {}) {
  const services = buildServices(config, log, options)
  const { database, databaseClock, live, limits, webhooks } = services
  const { app, isClosing } = await buildServer(config, services, options.stalledSeconds)
  const stopJobs = startBackgroundJobs(config, services)
  app.addHook('onReady', () => databaseClock.read())
  app.addHook('onReady', async () => webhooks?.dispatcher.start())
  app.addHook('onClose', async () => {
    stopJobs()
    await webhooks?.dispatcher.stop()
    databaseClock.close()
    live.close()
    limits.close()
    await database.close()
  })
  registerDomains(app, config, services, routeDeps(services), isClosing)
  return app
}

function startBackgroundJobs(config: Config, { core, database, files, metrics: { meters }, log }: Services) {
  const db = database
  const { eventRetentionDays, trashDays } = config.boards
  const jobs = {
    event_retention: () => deleteExpiredEvents(db, eventRetentionDays),
    run_retention: () => deleteExpiredRuns(db, eventRetentionDays),
    response_retention: () => deleteExpiredResponses(db),
    link_retention: () => deleteExpiredLinks(db),
    file_removal: () => deleteUnclaimedFiles(db, files),
    token_retention: () => deleteExpiredTokens(db),
    trash_retention: () => deleteExpiredTrash(core, trashDays),
    inbox_retention: () => deleteReadItems(db),
    webhook_retention: () => deleteExpiredDeliveries(db, config.webhooks.logDays),
    daily_totals: () => startDayOfStatistics(db),
  }
  return startJobs(db, newUuid(), jobs, log, (job_name, removed) => {
    meters.lockstep_job_runs_total.inc({ job_name, outcome: removed === undefined ? 'failed' : 'done' })
    meters.lockstep_job_removed_rows_total.inc({ job_name }, removed ?? 0)
  })
}

function routeDeps(services: Services): RouteDeps {
  const { clock, core, uploads, tokens, accessTokens, limits, isOwnOrigin, admission, budget } = services
  return {
    ...{ clock, core, uploads, tokens, accessTokens, limits, isOwnOrigin, resourceReaders },
    admission,
    budget,
  }
}

function registerDomains(
  app: FastifyInstance,
  config: Config,
  { core, tokens, passwords, limits, database, live, files, quotas, webhooks, isOwnOrigin, log }: Services,
  deps: RouteDeps,
  isClosing: () => boolean,
) {
  const userChanged = (user_id: string) => live.userChanged(user_id)
  const { publicUrl } = config
  const hashAccount = accountHasher(config.tokens.secret)
  const auth = { database, tokens, passwords, limits, settings: config.auth, isOwnOrigin, hashAccount, userChanged }
  const { trashDays } = config.boards
  // An operation of the contract without a handler does not compile.
  const handlers: Handlers<typeof operations> = {
    ...authHandlers(auth),
    ...userHandlers(limits, { isOpen: config.isUserSearchOpen }),
    ...healthHandlers({ database, ping: live.ping, isClosing, log }),
    ...boardHandlers(new BoardCache(config.boards.cacheBytes), quotas, deps.budget),
    ...memberHandlers(limits),
    ...invitationHandlers({ core, limits, publicUrl }),
    ...columnHandlers(trashDays),
    ...cardHandlers(trashDays),
    ...labelHandlers,
    ...checklistHandlers,
    ...itemHandlers,
    ...commentHandlers,
    ...attachmentHandlers(files),
    ...removalHandlers(trashDays),
    ...automationHandlers,
    ...realtimeHandlers(live),
    ...webhookHandlers(webhooks, limits),
    ...inboxHandlers,
    ...tokenHandlers({ database, limits, maxAgeDays: config.tokenMaxAgeDays, userChanged }),
    ...adminHandlers({ core, passwords, userChanged, publicUrl }),
  }
  const isOffered = ({ access, tag }: Operation) =>
    (access !== 'superuser' || config.http.hasAdminApi) && (tag !== 'tokens' || config.tokens.hasAccessTokens)
  registerRoutes(app, deps, operations, handlers, isOffered)
}
