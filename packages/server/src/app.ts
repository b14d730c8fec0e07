import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import cors from '@fastify/cors'
import { administrationOperations } from '@lockstep/contract/administration'
import { attachmentOperations } from '@lockstep/contract/attachments'
import { authOperations } from '@lockstep/contract/auth'
import { automationOperations } from '@lockstep/contract/automations'
import { boardOperations, memberOperations } from '@lockstep/contract/boards'
import { cardOperations } from '@lockstep/contract/cards'
import { checklistOperations, itemOperations } from '@lockstep/contract/checklists'
import { columnOperations } from '@lockstep/contract/columns'
import { healthOperations } from '@lockstep/contract/health'
import { labelOperations } from '@lockstep/contract/labels'
import { realtimeOperations } from '@lockstep/contract/realtime'
import { userOperations } from '@lockstep/contract/users'
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import { v7 as newUuid } from 'uuid'
import { adminHandlers } from './administration/admin-operations.ts'
import { attachmentHandlers } from './attachments/attachment-operations.ts'
import { ChunkStore } from './attachments/file-store.ts'
import { sweepFiles, uploadsTo } from './attachments/unclaimed-files.ts'
import { authHandlers } from './auth/auth-operations.ts'
import { passwordRules } from './auth/password-rules.ts'
import { type HashCost, Passwords } from './auth/passwords.ts'
import { automationHandlers } from './automations/automation-operations.ts'
import { removeOldRuns } from './automations/automation-queries.ts'
import { automationEngine } from './automations/run-automations.ts'
import { BoardCache } from './boards/board-cache.ts'
import { boardHandlers } from './boards/board-operations.ts'
import { memberHandlers } from './boards/member-operations.ts'
import { cardHandlers } from './cards/card-operations.ts'
import { checklistHandlers } from './checklists/checklist-operations.ts'
import { itemHandlers } from './checklists/item-operations.ts'
import { columnHandlers } from './columns/column-operations.ts'
import type { Config } from './config/config.ts'
import { OPEN_FOR_EACH_PLACE, openRequestShares } from './http/edge/admission-controller.ts'
import { Doorkeeper } from './http/edge/admission-middleware.ts'
import { headAnswers } from './http/response-headers.ts'
import { siteCheck } from './http/authenticate.ts'
import type { Core } from './core/change-board.ts'
import { ChangePacer } from './core/change-pacer.ts'
import { keepHouse, removeOldAnswers, removeOldEvents } from './jobs/scheduler.ts'
import { crossOriginHeaders, EXPOSED_HEADERS } from './http/cors.ts'
import { Database } from './database/database.ts'
import { DatabaseClock } from './database/database-clock.ts'
import { serveDocuments } from './http/pages/api-docs.ts'
import { problemOf, refuseConnection, renderProblems } from './http/error-handler.ts'
import { FairShare, UserAndAddressShare } from './platform/fair-share.ts'
import { limitConnections } from './http/edge/connection-limit.ts'
import { Limits } from './security/rate-limits.ts'
import { shedding } from './telemetry/metric-definitions.ts'
import { Metrics } from './telemetry/metrics.ts'
import { oneAtATime } from './http/edge/pipelining.ts'
import { Problem } from './platform/problem.ts'
import { Quotas } from './core/quotas.ts'
import { MAX_BODY_BYTES, takeRawBodies } from './http/request-body.ts'
import { answerEarly, logRequests, refuseExpectation } from './http/access-log.ts'
import { countEarly, countRequests } from './http/request-metrics.ts'
import { Semaphore } from './platform/semaphore.ts'
import { serve, type UserShares } from './http/routes.ts'
import { serveMetrics } from './http/metrics-endpoint.ts'
import { Tokens } from './security/tokens.ts'
import { Turns } from './core/board-queue.ts'
import { serveWebClient } from './http/pages/web-client.ts'
import { healthHandlers } from './health/health-operations.ts'
import { labelHandlers } from './labels/label-operations.ts'
import { Live, type LiveSettings } from './realtime/live.ts'
import { realtimeHandlers } from './realtime/realtime-operations.ts'
import { representations } from './resource-readers.ts'
import { userHandlers } from './users/user-operations.ts'

const BODY_SECONDS = 30
/** A connection on which nothing moves for so long, in either direction, is given up: a reader who takes nothing. */
const STALLED_SECONDS = 120
/** Half of the requests that may be under way without a place. */
const UNAUTHENTICATED_BODIES_PER_PLACE = OPEN_FOR_EACH_PLACE / 2
/** What one address may have once half of them are in use. */
const UNAUTHENTICATED_BODIES_PER_ADDRESS = 16
const MAX_LISTS_WAITING = 500
const LIST_WAIT_MS = 5_000
const MAX_CHUNKS_AT_ONCE = 4
/** Ten megabytes at ten kilobytes a second. */
const UPLOAD_SECONDS = 1_200

export interface AppOptions extends Pick<LiveSettings, 'seconds'> {
  /** How long a body that is no upload may take, and a reader who takes nothing; replaced by tests that cannot wait so long. */
  body_seconds?: number
  stalled_seconds?: number
  /** How much work a password is; replaced by tests, which register thousands of users. */
  hash_cost?: HashCost
}

/** The whole service, ready to listen: the one place that knows every domain. */
export async function buildApp(config: Config, log: FastifyBaseLogger, options: AppOptions = {}) {
  const metrics = new Metrics(config.METRICS_PORT !== 0 || config.METRICS_TOKEN !== '')
  const { meters } = metrics
  const is_fair = config.FAIR_SHARES === 'on'
  const database = new Database({
    url: config.DATABASE_URL,
    size: config.DATABASE_POOL_SIZE,
    is_fair,
    on_error: (err) => log.warn({ err }, 'A connection to PostgreSQL was lost'),
    observer: {
      waited: (seconds) => meters.lockstep_database_pool_wait_seconds.observe({}, seconds),
      failed: (kind) => meters.lockstep_database_errors_total.inc({ kind }),
    },
  })
  const clock = new DatabaseClock(database, log)
  const tokens = new Tokens({
    secret: config.JWT_SECRET,
    previous_secret: config.JWT_SECRET_PREVIOUS,
    algorithm: config.JWT_ALGORITHM,
    lifetime_seconds: config.TOKEN_LIFETIME_SECONDS,
  })
  const passwords = new Passwords(
    passwordRules(config),
    (seconds) => meters.lockstep_argon2_wait_seconds.observe({}, seconds),
    options.hash_cost,
  )
  const limits = new Limits(
    {
      redis_url: config.REDIS_URL,
      secrets: [config.JWT_SECRET, config.JWT_SECRET_PREVIOUS].filter((secret) => secret !== ''),
      allowed: limitsOf(config),
      refused: (limit) => meters.lockstep_limit_refusals_total.inc({ limit }),
      uncounted: (limit) => meters.lockstep_limit_uncounted_total.inc({ limit }),
    },
    log,
  )
  /** What takes long, or comes in crowds, gets half of the connections: others find the other half. */
  const half_of_pool = Math.floor(config.DATABASE_POOL_SIZE / 2)
  const quarter_of_pool = Math.ceil(config.DATABASE_POOL_SIZE / 4)
  const { CORS_ORIGINS: origins } = config
  const { isOwnOrigin, isAllowedOrigin } = siteCheck({ origins, trusts_proxy: config.TRUST_PROXY > 0 })
  const live = new Live(
    { database, clock, tokens, limits, log, metrics, isAllowedOrigin },
    {
      redis_url: config.REDIS_URL,
      max_sockets: config.MAX_SOCKETS,
      shares: config.FAIR_SHARES === 'off' ? undefined : socketShares(config),
      at_door: half_of_pool,
      pages_at_once: quarter_of_pool,
      drain_seconds: config.DRAIN_SECONDS,
      trusted_hops: config.TRUST_PROXY,
      ...(options.seconds && { seconds: options.seconds }),
    },
  )
  const chunks_at_once = Math.min(MAX_CHUNKS_AT_ONCE, half_of_pool)
  const files = new ChunkStore(database, chunks_at_once, (direction, bytes) =>
    meters.lockstep_attachment_bytes_total.inc({ direction }, bytes),
  )
  const turns = new Turns(config.BOARD_WAIT_MS, (seconds) =>
    meters.lockstep_board_queue_wait_seconds.observe({}, seconds),
  )
  const quotas = new Quotas(config)
  const core: Core = {
    database,
    turns,
    quotas,
    announce: (committed) => live.announce(committed),
    reaction: automationEngine((outcome) => meters.lockstep_rule_runs_total.inc({ outcome })),
    uploads: uploadsTo(database, files, quotas, {
      max_bytes: config.MAX_ATTACHMENT_BYTES,
      min_bytes_per_second: is_fair ? config.MIN_UPLOAD_BYTES_PER_SECOND : 0,
    }),
    log,
  }

  const headersFor = crossOriginHeaders(origins)
  let isClosing = false
  const doorkeeper = new Doorkeeper({
    places: config.MAX_REQUESTS_AT_ONCE,
    metrics,
    log,
    crossOriginHeaders: headersFor,
    isLeaving: () => isClosing,
    is_fair,
    trusted_hops: config.TRUST_PROXY,
  })
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: () => randomUUID(),
    trustProxy: (_address, hop) => hop < config.TRUST_PROXY,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: UPLOAD_SECONDS * 1_000,
    connectionTimeout: (options.stalled_seconds ?? STALLED_SECONDS) * 1_000,
    return503OnClosing: false,
    // An id of any length is judged as an id; the headers' own limit bounds it.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
    http: {
      // Other upgrades that a client offers are declined by answering as if it had not.
      shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
      requireHostHeader: false,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
    },
    rewriteUrl: ({ url = '/' }) => (/^\/api(?=[/?]|$)/.test(url) ? url.slice(4) || '/' : url),
    clientErrorHandler: refuseConnection,
    frameworkErrors: (error, request, reply) => {
      answerEarly(problemOf(error), request, reply)
      countEarly(metrics, request, reply)
    },
  })
  const stopLimiting = limitConnections(app.server, { is_by_address: is_fair && config.TRUST_PROXY === 0, log })
  app.server.on('checkExpectation', oneAtATime(refuseExpectation(log)))
  app.server.on('upgrade', (request, socket, head) => live.upgrade(request, socket, head))
  // It is not ready any more, and serves on until whoever asked has noticed. Only then it lets go of its sockets and of
  // its port. A connection that stays open after its answer would hold the end up.
  app.addHook('preClose', async () => {
    isClosing = true
    await pause(config.UNREADY_SECONDS * 1_000)
    await live.drain()
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing) reply.header('connection', 'close')
    done()
  })
  const for_chores = database.forKey('chores')
  const chores = {
    retention: () => removeOldEvents(for_chores, config.EVENT_RETENTION_DAYS),
    runs: () => removeOldRuns(for_chores, config.EVENT_RETENTION_DAYS),
    'stored answers': () => removeOldAnswers(for_chores),
    'unclaimed files': () => sweepFiles(for_chores, files),
  }
  const stopChores = keepHouse(for_chores, newUuid(), chores, log, (chore, removed) => {
    meters.lockstep_chore_runs_total.inc({ chore, outcome: removed === undefined ? 'failed' : 'done' })
    meters.lockstep_chore_removed_total.inc({ chore }, removed ?? 0)
  })
  app.addHook('onReady', () => clock.read())
  app.addHook('onClose', async () => {
    stopChores()
    stopLimiting()
    clock.close()
    live.close()
    limits.close()
    await database.close()
  })
  doorkeeper.stand(app)
  headAnswers(app, headersFor)
  logRequests(app)
  countRequests(app, metrics)
  metrics.look(() => {
    const { idleCount: idle, totalCount } = database.pool
    meters.lockstep_database_pool_connections.set({ state: 'idle' }, idle)
    meters.lockstep_database_pool_connections.set({ state: 'busy' }, totalCount - idle)
    meters.lockstep_database_pool_max_connections.set({}, config.DATABASE_POOL_SIZE)
    meters.lockstep_database_pool_waiting.set({}, database.waiting)
    meters.lockstep_clock_skew_seconds.set({}, clock.skew_seconds)
    meters.lockstep_board_queue_waiting.set({}, turns.waiting)
    meters.lockstep_argon2_waiting.set({}, passwords.waiting)
  })
  serveMetrics(app, metrics, {
    port: config.METRICS_PORT,
    host: config.METRICS_HOST,
    token: config.METRICS_TOKEN,
  })
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    done(headers.host === undefined ? new Problem('malformed_request') : undefined)
  })
  takeRawBodies(app)
  renderProblems(app, ({ code }) => {
    meters.lockstep_http_problems_total.inc({ code })
    if (shedding.includes(code)) meters.lockstep_http_shed_total.inc({ code })
  })

  // In a scope of its own: it answers who asks whether he may ask, and has nothing to do with other requests.
  await app.register(async (scope) => {
    await scope.register(cors, {
      origin: origins.includes('*') ? true : origins,
      credentials: true,
      strictPreflight: false,
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      exposedHeaders: EXPOSED_HEADERS,
    })
  })
  await app.register(serveDocuments, { isTokenKept: !config.IS_PRODUCTION })
  await app.register(serveWebClient, { max_attachment_bytes: config.MAX_ATTACHMENT_BYTES })

  const { body_seconds = BODY_SECONDS } = options
  const max_bodies = config.MAX_REQUESTS_AT_ONCE * UNAUTHENTICATED_BODIES_PER_PLACE
  const unauthenticated_bodies = new FairShare(max_bodies, is_fair ? UNAUTHENTICATED_BODIES_PER_ADDRESS : max_bodies)
  const overloaded = () => new Problem('overloaded')
  const list_limit = { waiting: MAX_LISTS_WAITING, wait_ms: LIST_WAIT_MS, refuse: overloaded }
  const lists = is_fair ? new Semaphore(quarter_of_pool, list_limit) : undefined
  const deps = {
    core,
    tokens,
    limits,
    isOwnOrigin,
    representations,
    body_seconds,
    unauthenticated_bodies,
    lists,
    change_pacer: is_fair ? new ChangePacer() : undefined,
    shares: is_fair ? userShares(config) : undefined,
  }
  const settings = {
    is_registration_open: config.REGISTRATION === 'open',
    is_cookie_default: config.AUTH_COOKIE,
    is_cookie_secure: config.IS_PRODUCTION,
    session_max_age_seconds: config.SESSION_MAX_AGE_SECONDS,
  }
  const userChanged = (user_id: string) => live.userChanged(user_id)
  serve(app, deps, authOperations, authHandlers({ tokens, passwords, limits, settings, isOwnOrigin, userChanged }))
  serve(app, deps, userOperations, userHandlers(limits, { is_open: config.USER_SEARCH === 'open' }))
  serve(app, deps, healthOperations, healthHandlers({ database, ping: live.ping, isLeaving: () => isClosing }))
  serve(app, deps, boardOperations, boardHandlers(new BoardCache(config.BOARD_CACHE_BYTES, half_of_pool), quotas))
  serve(app, deps, memberOperations, memberHandlers)
  serve(app, deps, columnOperations, columnHandlers)
  serve(app, deps, cardOperations, cardHandlers)
  serve(app, deps, labelOperations, labelHandlers)
  serve(app, deps, checklistOperations, checklistHandlers)
  serve(app, deps, itemOperations, itemHandlers)
  serve(app, deps, attachmentOperations, attachmentHandlers(files))
  serve(app, deps, automationOperations, automationHandlers)
  serve(app, deps, realtimeOperations, realtimeHandlers(live))
  const administration = { core, passwords, userChanged, retention_days: config.EVENT_RETENTION_DAYS }
  if (config.ADMIN_API === 'on') serve(app, deps, administrationOperations, adminHandlers(administration))
  return app
}

const socketShares = (config: Config) => ({
  user: config.MAX_SOCKETS_PER_USER,
  user_and_board: config.MAX_SOCKETS_PER_USER_AND_BOARD,
  address: config.MAX_SOCKETS_PER_ADDRESS,
})

const userShares = (config: Config): UserShares => ({
  requests: openRequestShares(config.MAX_REQUESTS_AT_ONCE),
  uploads: new UserAndAddressShare(config.MAX_UPLOADS_AT_ONCE, config.MAX_UPLOADS_AT_ONCE / 16),
  response_bytes: new UserAndAddressShare(config.MAX_UNREAD_RESPONSE_BYTES, config.MAX_UNREAD_RESPONSE_BYTES / 8),
})

const limitsOf = (config: Config) =>
  config.RATE_LIMITS === 'off'
    ? undefined
    : {
        login: config.MAX_LOGINS_PER_MINUTE,
        failed_login: config.MAX_FAILED_LOGINS,
        failed_login_address: config.MAX_FAILED_LOGINS_PER_ADDRESS,
        wrong_password: config.MAX_FAILED_LOGINS,
        registration: config.MAX_REGISTRATIONS_PER_HOUR,
        bad_payload: config.MAX_BAD_PAYLOADS_PER_MINUTE,
        request: config.MAX_REQUESTS_PER_MINUTE,
        request_address: config.MAX_REQUESTS_PER_MINUTE_PER_ADDRESS,
        upgrade: config.MAX_UPGRADES_PER_MINUTE,
        search: config.MAX_USER_SEARCHES_PER_MINUTE,
        search_day: config.MAX_USER_SEARCHES_PER_DAY,
      }
