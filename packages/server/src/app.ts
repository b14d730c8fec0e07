import type { IncomingMessage } from 'node:http'
import cookie from '@fastify/cookie'
import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
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
import { attachmentHandlers } from './attachments/attachment-operations.ts'
import { ChunkStore } from './attachments/file-store.ts'
import { sweepFiles, uploadsTo } from './attachments/unclaimed-files.ts'
import { authHandlers } from './auth/auth-operations.ts'
import { Passwords } from './auth/passwords.ts'
import { automationHandlers } from './automations/automation-operations.ts'
import { removeOldRuns } from './automations/automation-queries.ts'
import { runAutomations } from './automations/run-automations.ts'
import { BoardCache } from './boards/board-cache.ts'
import { boardHandlers } from './boards/board-operations.ts'
import { memberHandlers } from './boards/member-operations.ts'
import { cardHandlers } from './cards/card-operations.ts'
import { checklistHandlers } from './checklists/checklist-operations.ts'
import { itemHandlers } from './checklists/item-operations.ts'
import { columnHandlers } from './columns/column-operations.ts'
import type { Config } from './config.ts'
import { isOwnHost, ownOrigin } from './core/authenticate.ts'
import type { Core } from './core/change.ts'
import { keepHouse, removeOldEvents } from './core/chores.ts'
import { Database } from './core/database.ts'
import { serveDocuments } from './core/documents.ts'
import { problemOf, refuseConnection, renderProblems } from './core/errors.ts'
import { Limits } from './core/limits.ts'
import { Problem } from './core/problem.ts'
import { takeRawBodies } from './core/request-body.ts'
import { answerEarly, logRequests, refuseExpectation } from './core/request-log.ts'
import { serve } from './core/serve.ts'
import { Tokens } from './core/tokens.ts'
import { Turns } from './core/turns.ts'
import { serveWebClient } from './core/web-client.ts'
import { healthHandlers } from './health/health-operations.ts'
import { labelHandlers } from './labels/label-operations.ts'
import { Live, type LiveSettings } from './realtime/live.ts'
import { realtimeHandlers } from './realtime/realtime-operations.ts'
import { representations } from './representations.ts'
import { userHandlers } from './users/user-operations.ts'

const MAX_BODY_BYTES = 1_048_576
const BODY_SECONDS = 30
const MAX_CHUNKS_AT_ONCE = 4
/** Ten megabytes at ten kilobytes a second. */
const UPLOAD_SECONDS = 1_200

export interface AppOptions extends Pick<LiveSettings, 'seconds'> {
  /** How long a body that is no upload may take; replaced by tests that cannot wait so long. */
  body_seconds?: number
}

/** The whole service, ready to listen: the one place that knows every domain. */
export async function buildApp(config: Config, log: FastifyBaseLogger, options: AppOptions = {}) {
  const database = new Database({
    url: config.DATABASE_URL,
    size: config.DATABASE_POOL_SIZE,
    on_error: (err) => log.warn({ err }, 'A connection to PostgreSQL was lost'),
  })
  const tokens = new Tokens({
    secret: config.JWT_SECRET,
    algorithm: config.JWT_ALGORITHM,
    lifetime_seconds: config.TOKEN_LIFETIME_SECONDS,
  })
  const passwords = new Passwords({
    min_length: config.PASSWORD_MIN_LENGTH,
    max_length: config.PASSWORD_MAX_LENGTH,
    requires: config.PASSWORD_REQUIRES,
  })
  const limits = new Limits({ redis_url: config.REDIS_URL, secret: config.JWT_SECRET, allowed: limitsOf(config) }, log)
  const isOwnOrigin = ownOrigin(config.CORS_ORIGINS)
  const isAnyOrigin = config.CORS_ORIGINS.includes('*')
  const isAllowedOrigin = ({ headers: { origin, host = '' } }: IncomingMessage) =>
    origin === undefined || isAnyOrigin || isOwnHost(origin, host, config.CORS_ORIGINS)
  const live = new Live(
    { database, tokens, limits, log, isAllowedOrigin },
    {
      redis_url: config.REDIS_URL,
      max_sockets: config.MAX_SOCKETS,
      drain_seconds: config.DRAIN_SECONDS,
      trusted_hops: config.TRUST_PROXY,
      ...(options.seconds && { seconds: options.seconds }),
    },
  )
  const files = new ChunkStore(database, Math.min(MAX_CHUNKS_AT_ONCE, Math.floor(config.DATABASE_POOL_SIZE / 2)))
  const core: Core = {
    database,
    turns: new Turns(config.BOARD_WAIT_MS),
    announce: (committed) => live.announce(committed),
    reaction: runAutomations,
    uploads: uploadsTo(database, files, config.MAX_ATTACHMENT_BYTES),
    log,
  }

  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: () => newUuid(),
    trustProxy: (_address, hop) => hop < config.TRUST_PROXY,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: UPLOAD_SECONDS * 1_000,
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
    frameworkErrors: (error, request, reply) => answerEarly(problemOf(error), request, reply),
  })
  app.server.on('checkExpectation', refuseExpectation(log))
  app.server.on('upgrade', (request, socket, head) => live.upgrade(request, socket, head))
  // A connection that stays open after its answer would hold the end up.
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
    await live.drain()
  })
  app.addHook('onSend', async (_request, reply) => {
    if (isClosing) reply.header('connection', 'close')
  })
  const chores = {
    retention: () => removeOldEvents(database, config.EVENT_RETENTION_DAYS),
    runs: () => removeOldRuns(database, config.EVENT_RETENTION_DAYS),
    'unclaimed files': () => sweepFiles(database, files),
  }
  const stopChores = keepHouse(database, newUuid(), chores, log)
  app.addHook('onClose', async () => {
    stopChores()
    live.close()
    limits.close()
    await database.close()
  })
  logRequests(app)
  app.addHook('onRequest', async ({ headers }) => {
    if (headers.host === undefined) throw new Problem('malformed_request')
  })
  takeRawBodies(app)
  renderProblems(app)

  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    referrerPolicy: { policy: 'no-referrer' },
  })
  await app.register(cors, {
    origin: isAnyOrigin ? '*' : config.CORS_ORIGINS,
    credentials: !isAnyOrigin,
    strictPreflight: false,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: ['Board-Position', 'ETag', 'Idempotent-Replayed', 'Link', 'Retry-After', 'X-Request-Id'],
  })
  await app.register(cookie)
  await app.register(serveDocuments)
  await app.register(serveWebClient)

  const { body_seconds = BODY_SECONDS } = options
  const deps = { core, tokens, limits, isOwnOrigin, representations, body_seconds }
  const settings = {
    is_registration_open: config.REGISTRATION === 'open',
    is_cookie_default: config.AUTH_COOKIE,
    is_cookie_secure: config.IS_PRODUCTION,
    session_max_age_seconds: config.SESSION_MAX_AGE_SECONDS,
  }
  serve(
    app,
    deps,
    authOperations,
    authHandlers({
      tokens,
      passwords,
      limits,
      settings,
      isOwnOrigin,
      userChanged: (user_id) => live.userChanged(user_id),
    }),
  )
  serve(app, deps, userOperations, userHandlers)
  serve(app, deps, healthOperations, healthHandlers(database, live.ping))
  serve(app, deps, boardOperations, boardHandlers(new BoardCache(config.BOARD_CACHE_BYTES)))
  serve(app, deps, memberOperations, memberHandlers)
  serve(app, deps, columnOperations, columnHandlers)
  serve(app, deps, cardOperations, cardHandlers)
  serve(app, deps, labelOperations, labelHandlers)
  serve(app, deps, checklistOperations, checklistHandlers)
  serve(app, deps, itemOperations, itemHandlers)
  serve(app, deps, attachmentOperations, attachmentHandlers(files))
  serve(app, deps, automationOperations, automationHandlers)
  serve(app, deps, realtimeOperations, realtimeHandlers(live))
  return app
}

const limitsOf = (config: Config) =>
  config.RATE_LIMITS === 'off'
    ? undefined
    : {
        failed_login: config.MAX_FAILED_LOGINS,
        failed_login_address: config.MAX_FAILED_LOGINS_PER_ADDRESS,
        wrong_password: config.MAX_FAILED_LOGINS,
        registration: config.MAX_REGISTRATIONS_PER_HOUR,
        request: config.MAX_REQUESTS_PER_MINUTE,
        upgrade: config.MAX_UPGRADES_PER_MINUTE,
      }
