import { createHmac, hash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { networkOf } from '../platform/client-address.ts'
import { Problem } from '../platform/problem.ts'
import { makeRedis, type Redis, withTimeout } from '../platform/redis.ts'
import type { LIMITS } from '../telemetry/metric-definitions.ts'
import { type LocalCount, LocalCounts } from './local-counts.ts'

/** How long a request waits for the store; then it passes. */
const MAX_KEY_LENGTH = 256
const PATIENCE_MS = 50
/** A count that is insured waits longer; then it is kept in the process. A probe that takes longer has failed. */
const INSURED_PATIENCE_MS = 250
/** A store that has failed is left alone for so long before it is tried again. */
const PAUSE_MS = 1_000
/** So often in a row it is tried on one connection. */
const TRIES = 3

type Bucket = (typeof LIMITS)[number]
/**
 * Where counts are kept. `shared`: in Redis; without an answer the request passes uncounted. `insured`: in Redis; what cannot be
 * counted there is counted in the process. `local`: in the process alone.
 */
type Storage = 'shared' | 'insured' | 'local'
/** What is counted, each over its own time. */
const buckets: Record<Bucket, { seconds: number; kept: Storage }> = {
  login: { seconds: 60, kept: 'insured' },
  failed_login: { seconds: 900, kept: 'insured' },
  failed_login_address: { seconds: 900, kept: 'insured' },
  wrong_password: { seconds: 900, kept: 'insured' },
  registration: { seconds: 3_600, kept: 'insured' },
  bad_payload: { seconds: 60, kept: 'insured' },
  request: { seconds: 60, kept: 'shared' },
  request_address: { seconds: 60, kept: 'local' },
  upgrade: { seconds: 60, kept: 'shared' },
  search: { seconds: 60, kept: 'insured' },
  search_day: { seconds: 86_400, kept: 'insured' },
}
const names = Object.keys(buckets) as Bucket[]
type Count = [bucket: Bucket, ...who: string[]]
/** What Redis has counted, and when it ends. */
type Counted = Pick<RateLimiterRes, 'consumedPoints' | 'msBeforeNext'>
type Question<T> = (limiter: RateLimiterRedis, key: string) => Promise<T>

interface Log {
  info: (message: string) => void
  warn: (details: object, message: string) => void
}
export interface LimitSettings {
  /** Without it each instance counts for itself. */
  redisUrl: string
  /**
   * Hide in the store who is counted, and keep apart the counts of services that share it. While one secret takes the
   * place of another each count is kept under both: then no instance, and no step of the change, begins anew.
   */
  secrets: string[]
  /** How many of each are allowed; nothing is limited without. */
  allowed: Record<Bucket, number> | undefined
  /** Called for each request over a limit. */
  onRejected?: (limit: Bucket) => void
  /** Called for each count that Redis did not take. */
  onUncounted?: (limit: Bucket) => void
}

/** Counts failures alone, such as wrong passwords: a user who knows theirs is not refused. */
export interface FailureCount {
  /** Throws when there were too many failures. */
  require: () => Promise<void>
  /** A failure is counted; a success clears the count. */
  report: (isSuccess: boolean) => Promise<void>
}

/**
 * Rate limits. The counts are kept in Redis, for all instances together. A store that fails holds up nobody
 * for long. What guards passwords and accounts is then counted by each instance for itself, on top of what Redis knows;
 * requests pass uncounted.
 */
export class RateLimits {
  private readonly log: Log
  private readonly secrets: string[]
  private readonly onRejected: (limit: Bucket) => void
  private readonly onUncounted: (limit: Bucket) => void
  private readonly redisUrl: string
  private readonly allowed: LimitSettings['allowed']
  private limiters: Record<Bucket, RateLimiterRedis> | undefined
  private readonly local = Object.fromEntries(
    names.map((bucket) => [bucket, new LocalCounts(buckets[bucket].seconds)]),
  ) as Record<Bucket, LocalCounts>
  private redis: Redis | undefined
  private connected: Promise<unknown> = Promise.resolve()
  /** Hardly anybody waits for a store that was slow once; it still counts. */
  private isDoubted = false
  /** Nobody even asks one that has failed. */
  private isFailing = false
  private readonly closing = new AbortController()

  constructor({ redisUrl, secrets, allowed, onRejected = () => {}, onUncounted = () => {} }: LimitSettings, log: Log) {
    this.log = log
    this.onRejected = onRejected
    this.onUncounted = onUncounted
    this.secrets = secrets
    this.redisUrl = redisUrl
    this.allowed = allowed
    this.openStore()
  }

  private openStore() {
    const { redisUrl, allowed } = this
    if (!allowed || redisUrl === '') return
    const redis = makeRedis(redisUrl)
    this.redis = redis
    redis.on('error', () => this.doubt())
    this.connect(redis)
    const limiter = (bucket: Bucket) => {
      const points = allowed[bucket]
      const options = { keyPrefix: `limit:${bucket}`, points, duration: buckets[bucket].seconds }
      // A client over the limit is remembered here until it ends: a flood does not reach Redis.
      const store = { storeClient: redis, useRedisPackage: true, inMemoryBlockOnConsumed: points + 1 }
      return new RateLimiterRedis({ ...options, ...store })
    }
    this.limiters = Object.fromEntries(names.map((bucket) => [bucket, limiter(bucket)])) as typeof this.limiters
  }

  /** Counts a request of a user from an address, and returns the problem when it is one too many. */
  async request(user_id: string, address: string): Promise<Problem | undefined> {
    if (!this.allowed) return undefined
    return this.takeLocal(['request_address', networkOf(address)]) ?? this.take(['request', user_id])
  }

  registration(address: string): Promise<Problem | undefined> {
    return this.take(['registration', networkOf(address)])
  }

  upgrade(address: string): Promise<Problem | undefined> {
    return this.take(['upgrade', networkOf(address)])
  }

  /** Searches for users, limited so that the directory cannot be downloaded quickly. */
  async search(user_id: string): Promise<Problem | undefined> {
    return (await this.take(['search', user_id])) ?? this.take(['search_day', user_id])
  }

  /** Every attempt to log in, right or wrong: each costs as much as any other. */
  loginAttempt(account: string, address: string): Promise<Problem | undefined> {
    return this.take(['login', account, networkOf(address)])
  }

  /** Payloads that public operations reject. */
  badPayloads(address: string): FailureCount {
    return this.failures(['bad_payload', networkOf(address)])
  }

  /**
   * By account and address together: nobody can lock an account for clients at other addresses. And by the hash that
   * is guessed at: a new password has not been guessed at yet, so setting one lifts the limit.
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

  private async take(count: Count): Promise<Problem | undefined> {
    if (!this.allowed) return undefined
    const consume: Question<Counted> = (limiter, key) =>
      limiter.consume(key).catch((refusal: unknown) => {
        if (!(refusal instanceof RateLimiterRes)) throw refusal
        // A blocked client is refused without counting.
        return { consumedPoints: Number.POSITIVE_INFINITY, msBeforeNext: refusal.msBeforeNext }
      })
    const answers = await this.ask(count, consume)
    const mine = this.isKept(count, answers) ? this.localOf(count).read : this.localOf(count).add
    return this.judge(count, answers, mine(), 1)
  }

  /** For what is kept in the process alone. */
  private takeLocal(count: Count): Problem | undefined {
    return this.judge(count, [], this.localOf(count).add(), 1)
  }

  /** The problem when what Redis and the process have counted leaves no room for `more`. */
  private judge(count: Count, answers: (Counted | null)[], mine: LocalCount, more: 0 | 1): Problem | undefined {
    const [bucket] = count
    const known = answers.map((answer) => answer?.consumedPoints ?? 0)
    const most = (this.allowed as Record<Bucket, number>)[bucket]
    if (Math.max(0, ...known) + mine.count < most + more) return undefined
    this.onRejected(bucket)
    const ms = Math.max(mine.msLeft, ...answers.map((answer) => answer?.msBeforeNext ?? 0))
    return new Problem('too_many_requests', { retry_after_seconds: Math.max(1, Math.ceil(ms / 1_000)) })
  }

  /** Whether Redis has counted it, or nobody has to. */
  private isKept([bucket]: Count, answers: unknown[]): boolean {
    if (answers.length > 0) return true
    if (!this.redis) return false
    this.onUncounted(bucket)
    return buckets[bucket].kept === 'shared'
  }

  private localOf([bucket, ...who]: Count) {
    const counts = this.local[bucket]
    const text = who.join('\n')
    // The number of counts is bounded, so their keys must be short: an account can be named by a text of some kilobytes.
    const key = text.length > MAX_KEY_LENGTH ? hash('sha256', text, 'base64url') : text
    return { read: () => counts.read(key), add: () => counts.add(key), delete: () => counts.delete(key) }
  }

  /** A right guess wipes the first count alone: who knows one password may still be guessing others. */
  private failures(own: Count, ...wider: Count[]): FailureCount {
    const counts = [own, ...wider]
    const look = async (count: Count) => {
      const answers = await this.ask(count, (limiter, key) => limiter.get(key))
      return this.judge(count, answers, this.localOf(count).read(), 0)
    }
    const add = async (count: Count) => {
      const answers = await this.ask(count, (limiter, key) => limiter.penalty(key))
      if (!this.isKept(count, answers)) this.localOf(count).add()
    }
    return {
      require: async () => {
        if (!this.allowed) return
        const excess = (await Promise.all(counts.map(look))).find((problem) => problem !== undefined)
        if (excess) throw excess
      },
      report: async (isSuccess) => {
        if (!this.allowed) return
        if (!isSuccess) return void (await Promise.all(counts.map(add)))
        this.localOf(own).delete()
        await this.ask(own, (limiter, key) => limiter.delete(key))
      },
    }
  }

  /** The answers of Redis that came in time, one for each secret. */
  private async ask<T>(count: Count, question: Question<T>): Promise<T[]> {
    if (!this.limiters) return []
    const answers = await Promise.all(this.secrets.map((secret) => this.askUnder(secret, count, question)))
    return answers.flatMap((answer) => (answer ? [answer.value] : []))
  }

  /** Never rejects, and returns nothing when there is no answer in time. */
  private async askUnder<T>(secret: string, [bucket, ...who]: Count, question: Question<T>) {
    const limiter = this.limiters?.[bucket]
    if (!limiter || this.isFailing) return undefined
    const key = createHmac('sha256', secret).update(who.join('\n')).digest('base64url')
    const answer = this.connected.then(() => question(limiter, key))
    const patience = buckets[bucket].kept === 'insured' ? INSURED_PATIENCE_MS : this.isDoubted ? 0 : PATIENCE_MS
    try {
      return { value: await withTimeout(answer, patience) }
    } catch {
      this.doubt()
      return undefined
    }
  }

  private doubt() {
    if (this.isDoubted || !this.redis) return
    this.isDoubted = true
    void this.watch()
  }

  /**
   * Tries a store in doubt until it answers. A moment of slowness is not worth a word: it has failed when it does not answer
   * twice in a row. A connection that is silent for longer is replaced: its other end may be gone without a word.
   */
  private async watch() {
    const { signal } = this.closing
    for (let tries = 1; !signal.aborted; tries++) {
      const redis = this.redis as Redis
      try {
        await withTimeout(this.probe(redis), INSURED_PATIENCE_MS)
        if (this.isFailing) this.log.info('Redis keeps the rate limits again')
        this.isFailing = false
        this.isDoubted = false
        return
      } catch (error) {
        if (tries === 1) continue
        if (!this.isFailing && !signal.aborted)
          this.log.warn(
            { err: error },
            'Redis cannot keep the rate limits: this instance counts logins, registrations and searches for itself, and other requests pass uncounted',
          )
        this.isFailing = true
        if (tries % TRIES === 0 && !signal.aborted) {
          this.openStore()
          if (redis.isOpen) redis.destroy()
        }
        await pause(PAUSE_MS, undefined, { ref: false, signal }).catch(() => {})
      }
    }
  }

  /** A write: a store that is full, or a replica, still answers reads. */
  private async probe(redis: Redis) {
    // A cluster of which no node answered does not try again by itself.
    if (!redis.isOpen) this.connect(redis)
    await this.connected
    await redis.set('limit:probe', '1', { expiration: { type: 'EX', value: 1 } })
  }

  private connect(redis: Redis) {
    this.connected = redis.connect().catch(() => this.doubt())
  }
}
