import { createHmac, hash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { networkOf } from '../platform/client-address.ts'
import { Problem } from '../platform/problem.ts'
import { makeRedis, type Redis, withTimeout } from '../platform/redis.ts'
import type { Log } from '../telemetry/log.ts'
import type { LIMITS } from '../telemetry/metric-definitions.ts'
import { type LocalCount, LocalCounts } from './local-counts.ts'

const MAX_KEY_LENGTH = 256
/** Timeout of Redis for a `shared` limit; then the request passes uncounted. */
const TIMEOUT_MS = 50
/** Timeout for a limit with a fallback, and for a health probe of Redis. */
const FALLBACK_TIMEOUT_MS = 250
/** Pause between two probes of a Redis that has failed. */
const PROBE_PAUSE_MS = 1_000
/** Failed probes after which the connection is replaced. */
const PROBES_PER_CONNECTION = 3

type LimitName = (typeof LIMITS)[number]
/**
 * Where a limit is counted. `shared`: in Redis; if Redis fails, requests pass uncounted. `fallback`: in Redis; if Redis fails, in
 * the process. `local`: in the process.
 */
type CountStorage = 'shared' | 'fallback' | 'local'
/** The window of each limit, and where it is counted. */
const limitDefinitions: Record<LimitName, { seconds: number; storage: CountStorage }> = {
  login: { seconds: 60, storage: 'fallback' },
  failed_login: { seconds: 900, storage: 'fallback' },
  failed_login_address: { seconds: 900, storage: 'fallback' },
  wrong_password: { seconds: 900, storage: 'fallback' },
  registration: { seconds: 3_600, storage: 'fallback' },
  bad_payload: { seconds: 60, storage: 'fallback' },
  invalid_link: { seconds: 900, storage: 'fallback' },
  request: { seconds: 60, storage: 'shared' },
  request_address: { seconds: 60, storage: 'local' },
  upgrade: { seconds: 60, storage: 'shared' },
  search: { seconds: 60, storage: 'fallback' },
  search_day: { seconds: 86_400, storage: 'fallback' },
  new_token: { seconds: 3_600, storage: 'fallback' },
  unknown_token: { seconds: 60, storage: 'fallback' },
  new_member: { seconds: 3_600, storage: 'fallback' },
  same_member: { seconds: 86_400, storage: 'fallback' },
  token_member_change: { seconds: 3_600, storage: 'fallback' },
  webhook_change: { seconds: 3_600, storage: 'fallback' },
  webhook_test: { seconds: 60, storage: 'fallback' },
}
const names = Object.keys(limitDefinitions) as LimitName[]
/** A limit, and the values that identify what is counted, such as a user or an address. */
type CountKey = [limit: LimitName, ...identity: string[]]
/** A count in Redis, and when its window ends. */
type RedisCount = Pick<RateLimiterRes, 'consumedPoints' | 'msBeforeNext'>
type RedisCommand<T> = (limiter: RateLimiterRedis, key: string) => Promise<T>

/** Until the window of a count ends, at least one second. */
const secondsLeft = (counts: (RedisCount | null)[], local: LocalCount) =>
  Math.max(1, Math.ceil(Math.max(local.msLeft, ...counts.map((count) => count?.msBeforeNext ?? 0)) / 1_000))

export interface LimitSettings {
  /** If empty, each instance counts by itself. */
  redisUrl: string
  /**
   * Keys of the HMAC under which counts are stored. It hides users and addresses from readers of Redis, and separates services
   * that share one. While the secret is being replaced, each count is stored under both, so that no count starts over.
   */
  secrets: string[]
  /** The maximum of each limit; undefined when rate limits are off. */
  allowed: Record<LimitName, number> | undefined
  /** Called for each request over a limit. */
  onRejected?: (limit: LimitName) => void
  /** Called for each request that Redis could not count. */
  onUncounted?: (limit: LimitName) => void
}

/** The result of counting a request. */
export interface Counted {
  /** Set when it exceeds the limit. */
  excess?: Problem
  /** Response headers that say what is left. None when the request was not counted. */
  headers?: Record<string, string>
}

/** Limits failures only, such as wrong passwords. */
export interface FailureCount {
  /** Throws when there were too many failures. */
  require: () => Promise<void>
  /** A failure is counted; a success clears the count. */
  report: (isSuccess: boolean) => Promise<void>
}

/**
 * Rate limits, counted in Redis for all instances together. A slow or failed Redis delays requests only briefly: limits that
 * protect passwords and accounts are then counted by each instance, in addition to what is known from Redis; other requests
 * pass uncounted.
 */
export class RateLimits {
  private readonly log: Log
  private readonly secrets: string[]
  private readonly onRejected: (limit: LimitName) => void
  private readonly onUncounted: (limit: LimitName) => void
  private readonly redisUrl: string
  private readonly allowed: LimitSettings['allowed']
  private limiters: Record<LimitName, RateLimiterRedis> | undefined
  private readonly local = Object.fromEntries(
    names.map((limit) => [limit, new LocalCounts(limitDefinitions[limit].seconds)]),
  ) as Record<LimitName, LocalCounts>
  private redis: Redis | undefined
  private connected: Promise<unknown> = Promise.resolve()
  /** Redis timed out and is being probed. It is still asked, but `shared` limits do not wait for it. */
  private isDegraded = false
  /** Redis failed two probes and is not asked. */
  private isFailing = false
  private readonly closing = new AbortController()

  constructor({ redisUrl, secrets, allowed, onRejected = () => {}, onUncounted = () => {} }: LimitSettings, log: Log) {
    this.log = log
    this.onRejected = onRejected
    this.onUncounted = onUncounted
    this.secrets = secrets
    this.redisUrl = redisUrl
    this.allowed = allowed
    this.openRedis()
  }

  private openRedis() {
    const { redisUrl, allowed } = this
    if (!allowed || redisUrl === '') return
    const redis = makeRedis(redisUrl)
    this.redis = redis
    redis.on('error', () => this.setDegraded())
    this.connect(redis)
    const limiter = (limit: LimitName) => {
      const points = allowed[limit]
      const options = { keyPrefix: `limit:${limit}`, points, duration: limitDefinitions[limit].seconds }
      // A key over its limit is blocked in memory until its window ends, so that a flood does not reach Redis.
      const store = { storeClient: redis, useRedisPackage: true, inMemoryBlockOnConsumed: points + 1 }
      return new RateLimiterRedis({ ...options, ...store })
    }
    this.limiters = Object.fromEntries(names.map((limit) => [limit, limiter(limit)])) as typeof this.limiters
  }

  /** Counts a request by user and by address. */
  async request(user_id: string, address: string): Promise<Counted> {
    if (!this.allowed) return {}
    const excess = this.consumeLocal(['request_address', networkOf(address)])
    return excess ? { excess } : this.count(['request', user_id])
  }

  registration(address: string): Promise<Problem | undefined> {
    return this.consume(['registration', networkOf(address)])
  }

  upgrade(address: string): Promise<Problem | undefined> {
    return this.consume(['upgrade', networkOf(address)])
  }

  /** Limits searches for users, so that the directory cannot be downloaded quickly. */
  async search(user_id: string): Promise<Problem | undefined> {
    return (await this.consume(['search', user_id])) ?? this.consume(['search_day', user_id])
  }

  /** Limits all login attempts, because a successful one costs a password hash too. */
  loginAttempt(account: string, address: string): Promise<Problem | undefined> {
    return this.consume(['login', account, networkOf(address)])
  }

  /** Limits payloads that public operations reject. */
  badPayloads(address: string): FailureCount {
    return this.failures(['bad_payload', networkOf(address)])
  }

  /** Limits guesses of invitation and reset links. */
  invalidLinks(address: string): FailureCount {
    return this.failures(['invalid_link', networkOf(address)])
  }

  /** Limits new access tokens, because each leaves an entry in the audit log. */
  newToken(user_id: string): Promise<Problem | undefined> {
    return this.consume(['new_token', user_id])
  }

  /**
   * Limits how many members a user adds, and how often the same one, because they appear on a board without being asked. An
   * addition that the second limit rejects does not use up the first.
   */
  async newMember(inviter_id: string, user_id: string): Promise<Problem | undefined> {
    const same: CountKey = ['same_member', inviter_id, user_id]
    return (await this.excessOf(same)) ?? (await this.consume(['new_member', inviter_id])) ?? this.consume(same)
  }

  /** Limits changes of members with access tokens, because each leaves an entry in the audit log. */
  tokenMemberChange(user_id: string): Promise<Problem | undefined> {
    return this.consume(['token_member_change', user_id])
  }

  /** Limits changes of webhooks, because each leaves an entry in the audit log. */
  webhookChange(user_id: string): Promise<Problem | undefined> {
    return this.consume(['webhook_change', user_id])
  }

  webhookTest(webhook_id: string): Promise<Problem | undefined> {
    return this.consume(['webhook_test', webhook_id])
  }

  /** Limits access tokens that do not exist. */
  unknownTokens(address: string): FailureCount {
    return this.failures(['unknown_token', networkOf(address)])
  }

  /**
   * Counts by account and address together, so that an attacker cannot lock an account for other addresses; and by password
   * hash, so that a new password lifts the limit.
   */
  login(account: string, hashed_password: string, address: string): FailureCount {
    const network = networkOf(address)
    return this.failures(['failed_login', account, hashed_password, network], ['failed_login_address', network])
  }

  passwordChange(user_id: string, hashed_password: string): FailureCount {
    return this.failures(['wrong_password', user_id, hashed_password])
  }

  close() {
    this.closing.abort()
    if (this.redis?.isOpen) this.redis.destroy()
  }

  private async consume(key: CountKey): Promise<Problem | undefined> {
    return (await this.count(key)).excess
  }

  private async count(key: CountKey): Promise<Counted> {
    if (!this.allowed) return {}
    const command: RedisCommand<RedisCount> = (limiter, redisKey) =>
      limiter.consume(redisKey).catch((rejection: unknown) => {
        if (!(rejection instanceof RateLimiterRes)) throw rejection
        // A key that is blocked in memory is not counted.
        return { consumedPoints: Number.POSITIVE_INFINITY, msBeforeNext: rejection.msBeforeNext }
      })
    const counts = await this.askRedis(key, command)
    const isLocal = this.needsLocalCount(key, counts)
    const local = isLocal ? this.localCount(key).add() : this.localCount(key).read()
    const excess = this.problemOver(key, counts, local, 1)
    if (excess) return { excess }
    return isLocal || counts.length > 0 ? { headers: this.headersOf(key, counts, local) } : {}
  }

  /** A problem when a limit is reached. Counts nothing. */
  private async excessOf(key: CountKey): Promise<Problem | undefined> {
    if (!this.allowed) return undefined
    const counts = await this.askRedis(key, (limiter, redisKey) => limiter.get(redisKey))
    return this.problemOver(key, counts, this.localCount(key).read(), 0)
  }

  private consumeLocal(key: CountKey): Problem | undefined {
    return this.problemOver(key, [], this.localCount(key).add(), 1)
  }

  /** A problem when the counts of Redis and of the process together exceed the limit; with `added` 0, when they reach it. */
  private problemOver(
    key: CountKey,
    counts: (RedisCount | null)[],
    local: LocalCount,
    added: 0 | 1,
  ): Problem | undefined {
    if (this.remaining(key, counts, local) + added > 0) return undefined
    this.onRejected(key[0])
    const headers = this.headersOf(key, counts, local)
    return new Problem('too_many_requests', { retryAfterSeconds: secondsLeft(counts, local), headers })
  }

  /** How much of a limit is left; negative when it is exceeded. */
  private remaining([limit]: CountKey, counts: (RedisCount | null)[], local: LocalCount): number {
    const shared = counts.map((count) => count?.consumedPoints ?? 0)
    return (this.allowed as Record<LimitName, number>)[limit] - Math.max(0, ...shared) - local.count
  }

  /** The fields `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers. */
  private headersOf(key: CountKey, counts: (RedisCount | null)[], local: LocalCount): Record<string, string> {
    const [limit] = key
    const allowed = (this.allowed as Record<LimitName, number>)[limit]
    const remaining = Math.max(0, this.remaining(key, counts, local))
    return {
      'ratelimit-policy': `"${limit}";q=${allowed};w=${limitDefinitions[limit].seconds}`,
      ratelimit: `"${limit}";r=${remaining};t=${secondsLeft(counts, local)}`,
    }
  }

  /** Whether the process must count, because Redis did not. */
  private needsLocalCount([limit]: CountKey, counts: unknown[]): boolean {
    if (counts.length > 0) return false
    if (!this.redis) return true
    this.onUncounted(limit)
    return limitDefinitions[limit].storage !== 'shared'
  }

  private localCount([limit, ...identity]: CountKey) {
    const counts = this.local[limit]
    const text = identity.join('\n')
    // The number of counts is bounded, so their keys must be short: an account name can have kilobytes.
    const key = text.length > MAX_KEY_LENGTH ? hash('sha256', text, 'base64url') : text
    return { read: () => counts.read(key), add: () => counts.add(key), delete: () => counts.delete(key) }
  }

  /** A success clears only the first count: a client that knows one password may be guessing others. */
  private failures(own: CountKey, ...wider: CountKey[]): FailureCount {
    const keys = [own, ...wider]
    const add = async (key: CountKey) => {
      const counts = await this.askRedis(key, (limiter, redisKey) => limiter.penalty(redisKey))
      if (this.needsLocalCount(key, counts)) this.localCount(key).add()
    }
    return {
      require: async () => {
        const excess = (await Promise.all(keys.map((key) => this.excessOf(key)))).find(
          (problem) => problem !== undefined,
        )
        if (excess) throw excess
      },
      report: async (isSuccess) => {
        if (!this.allowed) return
        if (!isSuccess) return void (await Promise.all(keys.map(add)))
        this.localCount(own).delete()
        await this.askRedis(own, (limiter, redisKey) => limiter.delete(redisKey))
      },
    }
  }

  /** The replies of Redis that came in time, one for each secret. */
  private async askRedis<T>(key: CountKey, command: RedisCommand<T>): Promise<T[]> {
    if (!this.limiters) return []
    const replies = await Promise.all(this.secrets.map((secret) => this.askWithSecret(secret, key, command)))
    return replies.flatMap((reply) => (reply ? [reply.value] : []))
  }

  /** Never rejects. Returns undefined when there is no reply in time. */
  private async askWithSecret<T>(secret: string, [limit, ...identity]: CountKey, command: RedisCommand<T>) {
    const limiter = this.limiters?.[limit]
    if (!limiter || this.isFailing) return undefined
    const redisKey = createHmac('sha256', secret).update(identity.join('\n')).digest('base64url')
    const reply = this.connected.then(() => command(limiter, redisKey))
    const hasFallback = limitDefinitions[limit].storage === 'fallback'
    const timeoutMs = hasFallback ? FALLBACK_TIMEOUT_MS : this.isDegraded ? 0 : TIMEOUT_MS
    try {
      return { value: await withTimeout(reply, timeoutMs) }
    } catch {
      this.setDegraded()
      return undefined
    }
  }

  private setDegraded() {
    if (this.isDegraded || !this.redis) return
    this.isDegraded = true
    void this.probeUntilRecovered()
  }

  /**
   * Probes Redis until it replies. One failed probe is not logged: Redis has failed when two in a row fail. After more, the
   * connection is replaced, because its other end may be gone without a reset.
   */
  private async probeUntilRecovered() {
    const { signal } = this.closing
    for (let probes = 1; !signal.aborted; probes++) {
      const redis = this.redis as Redis
      try {
        await withTimeout(this.probe(redis), FALLBACK_TIMEOUT_MS)
        if (this.isFailing) this.log.info({}, 'Redis counts the rate limits again')
        this.isFailing = false
        this.isDegraded = false
        return
      } catch (error) {
        if (probes === 1) continue
        if (!this.isFailing && !signal.aborted)
          this.log.warn(
            { err: error },
            'Redis cannot count the rate limits: this instance counts logins, registrations, searches and unknown access tokens by itself, and other requests pass uncounted',
          )
        this.isFailing = true
        if (probes % PROBES_PER_CONNECTION === 0 && !signal.aborted) {
          this.openRedis()
          if (redis.isOpen) redis.destroy()
        }
        await pause(PROBE_PAUSE_MS, undefined, { ref: false, signal }).catch(() => {})
      }
    }
  }

  /** Writes, because a Redis that is full, or a replica, still serves reads. */
  private async probe(redis: Redis) {
    // A cluster that reached no node does not reconnect by itself.
    if (!redis.isOpen) this.connect(redis)
    await this.connected
    await redis.set('limit:probe', '1', { expiration: { type: 'EX', value: 1 } })
  }

  private connect(redis: Redis) {
    this.connected = redis.connect().catch(() => this.setDegraded())
  }
}
