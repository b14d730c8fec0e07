import { createHmac } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { LIMITS } from './metric-definitions.ts'
import { Problem } from './problem.ts'
import { inTime, makeRedis, type Redis } from './redis.ts'

/** So long a request waits for the store; then it passes. */
const PATIENCE_MS = 50
/** A store that is silent for so long has failed, and is left alone for as long before it is tried again. */
const PAUSE_MS = 1_000
/** So often in a row it is tried on one connection. */
const TRIES = 3

/** What is counted, each over its own time. */
const seconds: Record<Bucket, number> = {
  failed_login: 900,
  failed_login_address: 900,
  wrong_password: 900,
  registration: 3_600,
  request: 60,
  upgrade: 60,
}
type Bucket = (typeof LIMITS)[number]
type Count = [bucket: Bucket, ...who: string[]]
type Question<T> = (limiter: RateLimiterAbstract, key: string) => Promise<T>

interface Log {
  info: (message: string) => void
  warn: (details: object, message: string) => void
}
export interface LimitSettings {
  /** Without it each instance counts for itself. */
  redis_url: string
  /**
   * Hide in the store who is counted, and keep apart the counts of services that share it. While one secret takes the
   * place of another each count is kept under both: then no instance, and no step of the change, begins anew.
   */
  secrets: string[]
  /** How many of each are allowed; nothing is limited without. */
  allowed: Record<Bucket, number> | undefined
  /** Told of each that was one too many. */
  refused?: (limit: Bucket) => void
}

/** Guesses of one password. Only wrong ones count, so that nobody is refused who knows it. */
export interface Guesses {
  /** Refuses somebody who has guessed wrong too often. */
  demand: () => Promise<void>
  tell: (isRight: boolean) => Promise<void>
}

/**
 * Who has had too much for now. The counts are kept in Redis, for all instances together. A store that fails never
 * refuses or holds up a request.
 */
export class Limits {
  private readonly log: Log
  private readonly secrets: string[]
  private readonly refused: (limit: Bucket) => void
  private readonly redis_url: string
  private readonly allowed: LimitSettings['allowed']
  private limiters: Record<Bucket, RateLimiterAbstract> | undefined
  private redis: Redis | undefined
  private connected: Promise<unknown> = Promise.resolve()
  /** Hardly anybody waits for a store that was slow once; it still counts. */
  private isDoubted = false
  /** Nobody even asks one that has failed. */
  private isFailing = false
  private readonly closing = new AbortController()

  constructor({ redis_url, secrets, allowed, refused = () => {} }: LimitSettings, log: Log) {
    this.log = log
    this.refused = refused
    this.secrets = secrets
    this.redis_url = redis_url
    this.allowed = allowed
    this.openStore()
  }

  private openStore() {
    const { redis_url, allowed } = this
    if (!allowed) return
    if (redis_url !== '') {
      this.redis = makeRedis(redis_url)
      this.redis.on('error', () => this.doubt())
      this.connect(this.redis)
    }
    const { redis } = this
    const limiter = ([bucket, duration]: [string, number]) => {
      const points = allowed[bucket as Bucket]
      const options = { keyPrefix: `limit:${bucket}`, points, duration }
      if (!redis) return [bucket, new RateLimiterMemory(options)]
      // Whoever is over his limit is remembered here until it ends: a flood does not reach Redis.
      const store = { storeClient: redis, useRedisPackage: true, inMemoryBlockOnConsumed: points + 1 }
      return [bucket, new RateLimiterRedis({ ...options, ...store })]
    }
    this.limiters = Object.fromEntries(Object.entries(seconds).map(limiter)) as Record<Bucket, RateLimiterAbstract>
  }

  /** Counts a request of a user, and answers the problem when it is one too many. */
  request(user_id: string): Promise<Problem | undefined> {
    return this.take(['request', user_id])
  }

  registration(address: string): Promise<Problem | undefined> {
    return this.take(['registration', networkOf(address)])
  }

  upgrade(address: string): Promise<Problem | undefined> {
    return this.take(['upgrade', networkOf(address)])
  }

  /**
   * By account and address together: nobody can lock an account for whoever comes from elsewhere. And by the hash that
   * is guessed at: a new password has not been guessed at yet, so setting one lifts the limit.
   */
  login(account: string, hashed_password: string, address: string): Guesses {
    const network = networkOf(address)
    return this.guesses(['failed_login', account, hashed_password, network], ['failed_login_address', network])
  }

  passwordChange(user_id: string, hashed_password: string): Guesses {
    return this.guesses(['wrong_password', user_id, hashed_password])
  }

  close() {
    this.closing.abort()
    if (this.redis?.isOpen) this.redis.destroy()
  }

  private async take(count: Count): Promise<Problem | undefined> {
    if (!this.limiters) return undefined
    return this.ask(count, (limiter, key) =>
      limiter.consume(key).then(
        () => undefined,
        (refusal: unknown) => {
          if (refusal instanceof RateLimiterRes) return this.refuse(count, refusal)
          throw refusal
        },
      ),
    )
  }

  private refuse([bucket]: Count, { msBeforeNext }: RateLimiterRes): Problem {
    this.refused(bucket)
    return new Problem('too_many_requests', { retry_after_seconds: Math.max(1, Math.ceil(msBeforeNext / 1_000)) })
  }

  /** A right guess wipes the first count alone: who knows one password may still be guessing others. */
  private guesses(own: Count, ...wider: Count[]): Guesses {
    const counts = [own, ...wider]
    const look = (count: Count) =>
      this.ask(count, async (limiter, key) => {
        const found = await limiter.get(key)
        return found && found.consumedPoints >= limiter.points ? this.refuse(count, found) : undefined
      })
    return {
      demand: async () => {
        const excess = (await Promise.all(counts.map(look))).find((problem) => problem !== undefined)
        if (excess) throw excess
      },
      tell: async (isRight) => {
        if (isRight) await this.ask(own, (limiter, key) => limiter.delete(key))
        else await Promise.all(counts.map((count) => this.ask(count, (limiter, key) => limiter.penalty(key))))
      },
    }
  }

  /** The first of the answers, one for each secret. */
  private async ask<T>(count: Count, question: Question<T>): Promise<T | undefined> {
    const answers = await Promise.all(this.secrets.map((secret) => this.askUnder(secret, count, question)))
    return answers.find((answer) => answer !== undefined)
  }

  /** Never rejects, and answers nothing when there is nothing to be had in time. */
  private async askUnder<T>(secret: string, [bucket, ...who]: Count, question: Question<T>): Promise<T | undefined> {
    const limiter = this.limiters?.[bucket]
    if (!limiter) return undefined
    const key = createHmac('sha256', secret).update(who.join('\n')).digest('base64url')
    if (!this.redis) return question(limiter, key)
    if (this.isFailing) return undefined
    const answer = this.connected.then(() => question(limiter, key))
    try {
      return await inTime(answer, this.isDoubted ? 0 : PATIENCE_MS)
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
   * Tries a store in doubt until it answers. A moment of slowness is not worth a word. A connection that is silent for longer
   * is given up: its other end may be gone, and nobody would say so for a quarter of an hour.
   */
  private async watch() {
    const { signal } = this.closing
    for (let tries = 1; !signal.aborted; tries++) {
      const redis = this.redis as Redis
      try {
        await inTime(this.probe(redis), PAUSE_MS)
        if (this.isFailing) this.log.info('Redis can be asked for the rate limits again')
        this.isFailing = false
        this.isDoubted = false
        return
      } catch (error) {
        if (!this.isFailing && !signal.aborted)
          this.log.warn({ err: error }, 'Redis cannot be asked for the rate limits; requests pass uncounted')
        this.isFailing = true
        if (tries % TRIES === 0 && !signal.aborted) {
          this.openStore()
          if (redis.isOpen) redis.destroy()
        }
        await pause(PAUSE_MS, undefined, { ref: false, signal }).catch(() => {})
      }
    }
  }

  private async probe(redis: Redis) {
    // A cluster of which no node answered does not try again by itself.
    if (!redis.isOpen) this.connect(redis)
    await this.connected
    await redis.exists('limit:probe')
  }

  private connect(redis: Redis) {
    this.connected = redis.connect().catch(() => this.doubt())
  }
}

/** What counts as one address. Whoever has one IPv6 address has all of its /64. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  const text = isIPv6(plain) && URL.parse(`http://[${plain.split('%')[0]}]`)?.hostname.slice(1, -1)
  if (!text) return plain
  const [front = [], back = []] = text.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const groups = [...front, ...Array<string>(8 - front.length - back.length).fill('0'), ...back]
  return `${groups.slice(0, 4).join(':')}::/64`
}
