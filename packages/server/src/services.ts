import type { FastifyBaseLogger } from 'fastify'
import { ChunkStore } from './attachments/file-store.ts'
import { uploadsTo } from './attachments/unclaimed-files.ts'
import { passwordRules } from './auth/password-rules.ts'
import { type HashCost, Passwords } from './auth/passwords.ts'
import { automationEngine } from './automations/run-automations.ts'
import type { Config } from './config/read-config.ts'
import type { CoreServices } from './core/change-board.ts'
import { ChangeQueue } from './core/change-queue.ts'
import { Quotas } from './core/quotas.ts'
import { Database } from './database/database.ts'
import { DatabaseClock } from './database/database-clock.ts'
import { Admission } from './http/admission.ts'
import { siteCheck } from './http/authenticate.ts'
import { ByteBudget } from './platform/byte-budget.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import { Live } from './realtime/live.ts'
import { AccessTokens } from './security/access-tokens.ts'
import { RateLimits } from './security/rate-limits.ts'
import { SecretBox } from './security/secret-box.ts'
import { Tokens } from './security/tokens.ts'
import { type Meters, Metrics } from './telemetry/metrics.ts'
import { Dispatcher } from './webhooks/dispatcher.ts'
import { Outgoing } from './webhooks/outgoing.ts'
import type { Webhooks } from './webhooks/webhook-steps.ts'

/** What one user may read in large pieces, and four times what they may change. */
const BYTES_PER_SECOND = 4 * 1_048_576
const FILE_BYTES_PER_SECOND = 8 * 1_048_576
const BURST_BYTES = 8 * 1_048_576

export interface ServiceOptions {
  /** The clock of heartbeats, of slow bodies and of the limits of bytes per second; advanced by tests. */
  clock?: Clock
  /** Cost of password hashing; lowered by tests, which register thousands of users. */
  hashCost?: HashCost
}

interface WebhookDeps {
  database: Database
  meters: Meters
  log: FastifyBaseLogger
  concurrentStatements: number
}

/** Everything between HTTP and the stores. */
export type Services = ReturnType<typeof buildServices>

export function buildServices(config: Config, log: FastifyBaseLogger, options: ServiceOptions) {
  const { clock = systemClock } = options
  const metrics = new Metrics(config.metrics.port !== 0 || config.metrics.token !== '')
  const { meters } = metrics
  const { poolSize } = config.database
  const quarterOfPool = Math.ceil(poolSize / 4)

  const database = new Database({
    url: config.database.url,
    size: poolSize,
    onError: (err) => log.warn({ err }, 'connection to PostgreSQL lost'),
    observer: {
      onWait: (seconds) => meters.lockstep_database_pool_wait_seconds.observe({}, seconds),
      onError: (kind) => meters.lockstep_database_errors_total.inc({ kind }),
    },
  })
  const databaseClock = new DatabaseClock(database, log)
  const isLimited = config.rateLimits !== undefined
  const admission = new Admission(config.http.maxConcurrentRequests, { isFair: isLimited }, (seconds) =>
    meters.lockstep_http_wait_seconds.observe({}, seconds),
  )
  const budget = new ByteBudget(isLimited ? BYTES_PER_SECOND : Number.POSITIVE_INFINITY, BURST_BYTES, clock)
  const tokens = new Tokens(config.tokens)
  const passwords = new Passwords(
    passwordRules(config.passwords),
    (seconds) => meters.lockstep_argon2_wait_seconds.observe({}, seconds),
    options.hashCost,
  )
  const limits = new RateLimits(
    {
      redisUrl: config.redisUrl,
      secrets: [config.tokens.secret, config.tokens.previousSecret].filter((secret) => secret !== ''),
      allowed: config.rateLimits,
      onRejected: (limit) => meters.lockstep_limit_refusals_total.inc({ limit }),
      onUncounted: (limit) => meters.lockstep_limit_uncounted_total.inc({ limit }),
    },
    log,
  )
  const accessTokens = config.tokens.hasAccessTokens
    ? new AccessTokens({
        database,
        limits,
        onRequest: ({ scope, kind }) => meters.lockstep_token_requests_total.inc({ scope, kind }),
      })
    : undefined
  const { corsOrigins, trustedHops } = config.http
  const { isOwnOrigin, isAllowedOrigin } = siteCheck({ origins: corsOrigins, trustsProxy: trustedHops > 0 })
  const live = new Live(
    { database, clock, databaseClock, tokens, limits, log, metrics, isAllowedOrigin, admission, budget },
    {
      redisUrl: config.redisUrl,
      maxSockets: config.sockets.max,
      shares: config.sockets.shares,
      concurrentChecks: Math.ceil(poolSize / 2),
      drainSeconds: config.sockets.drainSeconds,
      trustedHops,
    },
  )
  const fileBudget = new ByteBudget(
    isLimited ? FILE_BYTES_PER_SECOND : Number.POSITIVE_INFINITY,
    FILE_BYTES_PER_SECOND / 2,
    clock,
  )
  const files = new ChunkStore(database, admission, fileBudget, (direction, bytes) =>
    meters.lockstep_attachment_bytes_total.inc({ direction }, bytes),
  )
  const webhooks = buildWebhooks(config.webhooks, { database, meters, log, concurrentStatements: quarterOfPool })
  const quotas = new Quotas(config.quotas)
  const queue = new ChangeQueue(config.boards.waitMs, (seconds) =>
    meters.lockstep_board_queue_wait_seconds.observe({}, seconds),
  )
  const core: CoreServices = {
    database,
    boardQueue: queue,
    quotas,
    announce: (committed) => {
      live.announce(committed)
      webhooks?.dispatcher.boardChanged(committed.board_id)
    },
    reaction: automationEngine((outcome) => meters.lockstep_rule_runs_total.inc({ outcome })),
    log,
  }
  const uploads = uploadsTo(database, files, quotas, config.files)
  metrics.onScrape(() => {
    const { idleCount: idle, totalCount } = database.pool
    meters.lockstep_database_pool_connections.set({ state: 'idle' }, idle)
    meters.lockstep_database_pool_connections.set({ state: 'busy' }, totalCount - idle)
    meters.lockstep_database_pool_max_connections.set({}, poolSize)
    meters.lockstep_database_pool_waiting.set({}, database.waiting)
    meters.lockstep_clock_skew_seconds.set({}, databaseClock.skewSeconds)
    meters.lockstep_board_queue_waiting.set({}, queue.waiting)
    meters.lockstep_argon2_waiting.set({}, passwords.waiting)
    meters.lockstep_http_requests_waiting.set({}, admission.waiting)
  })
  return {
    ...{
      metrics,
      admission,
      budget,
      database,
      clock,
      databaseClock,
      tokens,
      accessTokens,
      passwords,
      limits,
      live,
      files,
      quotas,
      core,
      uploads,
      webhooks,
    },
    ...{ isOwnOrigin, log },
  }
}

/** Undefined without a key that encrypts their secrets. */
function buildWebhooks(
  { encryptionKey, previousEncryptionKey, outgoing: outgoingSettings, ...settings }: Config['webhooks'],
  { database, meters, log, concurrentStatements }: WebhookDeps,
): Webhooks | undefined {
  if (encryptionKey === '') return undefined
  const secrets = new SecretBox(encryptionKey, previousEncryptionKey)
  const outgoing = new Outgoing(outgoingSettings)
  const { timeoutMs } = outgoingSettings
  const dispatcher = new Dispatcher(
    { ...settings, timeoutMs, concurrentStatements },
    {
      ...{ db: database, outgoing, secrets, log },
      onAttempt: (outcome) => meters.lockstep_webhook_attempts_total.inc({ outcome }),
      onAccepted: (seconds) => meters.lockstep_webhook_delay_seconds.observe({}, seconds),
      onPaused: (reason) => meters.lockstep_webhooks_paused_total.inc({ reason }),
    },
  )
  return { database, secrets, outgoing, outgoingSettings, dispatcher }
}
