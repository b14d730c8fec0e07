import type { CommittedChange } from '../core/event-log.ts'
import { describeRedisError, makeRedis, type Redis, withTimeout } from '../platform/redis.ts'
import type { LiveEvent } from './hub-environment.ts'

/** Boards are spread over this many hash tags, so that a cluster can spread them over its nodes. */
const PARTITIONS = 256
const TIMEOUT_MS = 1_000
/** How often an instance publishes a canary message to itself, and how long it may be missing before the bus is degraded. */
const CANARY_MS = 250
const CANARY_TIMEOUT_MS = 600
/** Connections are replaced when no canary has arrived for this long, even if they report themselves as connected. */
const RECONNECT_AFTER_MS = 5_000
/** Backpressure: above these limits messages are dropped. Other instances then read the events from the log. */
const MAX_PENDING = 512
const MAX_PENDING_BYTES = 16_777_216
/**
 * Events with larger bodies are announced by their number alone, and other instances read them from the log: Redis
 * disconnects subscribers that cannot receive a message of several megabytes fast enough.
 */
const MAX_BODY_BYTES = 65_536
const USERS_CHANNEL = '{users}:changed'

interface Log {
  info: (message: string) => void
  warn: (details: object, message: string) => void
}

/** Callbacks for messages from other instances, and from this one. */
export interface BusHandlers {
  onEvent: (board_id: string, epoch: number, event: LiveEvent) => void
  /** The number of an event that was too large to publish; the log has it. */
  onAnnouncement: (board_id: string, epoch: number, seq: number) => void
  onPresence: (board_id: string, message: string) => void
  /** A user's permissions may have changed. */
  onUserChange: (user_id: string) => void
  /** Whether messages may be getting lost. */
  onDegraded: (isDegraded: boolean) => void
}

interface BusSubscription {
  onSubscribed: () => void
  /** Whether the subscription was sent to Redis and has not failed. */
  isRequested: boolean
}

/**
 * Pub/sub between instances, over sharded channels of Redis. Messages may be lost, repeated or reordered; nothing waits for
 * them and correctness does not depend on them. There is one connection to publish and one to subscribe, for each node of a
 * cluster.
 */
export class Bus {
  private readonly url: string
  private readonly log: Log
  private readonly handlers: BusHandlers
  private publisher: Redis
  private subscriber: Redis
  private readonly subscriptions = new Map<string, BusSubscription>()
  /** Canary channels, with the time of the last message on each. */
  private readonly canaries: Map<string, number>
  private readonly timer: NodeJS.Timeout
  private reconnectedAt = performance.now()
  private pending = 0
  private pendingBytes = 0
  /** When the first error since the last success was logged; undefined while Redis works. */
  private failedAt: number | undefined
  /** The cause that was logged, if its remedy is known. */
  private loggedCause: string | undefined
  /** True until the first canary has arrived. */
  isDegraded = true
  /** Messages so far. */
  readonly counts = { sent: 0, received: 0, dropped: 0 }

  constructor(url: string, instanceId: string, log: Log, handlers: BusHandlers) {
    this.url = url
    this.log = log
    this.handlers = handlers
    this.publisher = this.connect()
    this.subscriber = this.connect()
    // Each node of a cluster can fail on its own: sixteen tags reach all nodes.
    const tags = url.includes(',') ? Array.from({ length: 16 }, (_, i) => i * 16) : [0]
    this.canaries = new Map(tags.map((tag) => [`{${tag}}:canary:${instanceId}`, 0]))
    for (const channel of [...this.canaries.keys(), USERS_CHANNEL]) this.addSubscription(channel, () => {})
    this.timer = setInterval(() => this.check(), CANARY_MS)
  }

  announce({ board_id, epoch, events }: CommittedChange) {
    for (const { seq, subject_id, body } of events) {
      const published = Buffer.byteLength(body) > MAX_BODY_BYTES ? '' : body
      this.publish(channelOf(board_id), `e|${epoch}|${seq}|${subject_id ?? ''}|${published}`)
    }
  }

  announceUser(user_id: string) {
    this.publish(USERS_CHANNEL, `u|${user_id}`)
  }

  /** Calls `onSubscribed` when messages for the board arrive, and again after the connections were replaced. */
  subscribe(board_id: string, onSubscribed: () => void) {
    this.addSubscription(channelOf(board_id), onSubscribed)
  }

  unsubscribe(board_id: string) {
    const channel = channelOf(board_id)
    this.subscriptions.delete(channel)
    // The listener is passed, so that the client library forgets it at once. Otherwise a subscribe before the reply of
    // Redis would not be sent.
    this.subscriber.sUnsubscribe(channel, this.onMessage).catch((error: Error) => this.onFailure(error))
  }

  /** Runs a script on the keys of one board. Rejects when Redis does not reply in time. */
  async script({ sha, text }: { sha: string; text: string }, keys: string[], args: string[]): Promise<unknown> {
    const call = { keys, arguments: args }
    return withTimeout(
      this.publisher.evalSha(sha, call).catch((error: Error) => {
        if (error.message.startsWith('NOSCRIPT')) return this.publisher.eval(text, call)
        throw error
      }),
      TIMEOUT_MS,
    )
  }

  /** Rejects when Redis does not reply. */
  async ping() {
    await withTimeout(this.publisher.sPublish('{0}:ping', ''), TIMEOUT_MS)
  }

  close() {
    clearInterval(this.timer)
    for (const redis of [this.publisher, this.subscriber]) if (redis.isOpen) redis.destroy()
  }

  private connect(): Redis {
    const redis = makeRedis(this.url)
    redis.on('error', (error: Error) => this.onFailure(error))
    this.open(redis)
    return redis
  }

  /** A single-node client retries by itself; a cluster client does not if no node replied, so `check` opens it again. */
  private open(redis: Redis) {
    redis.connect().catch((error: Error) => this.onFailure(error))
  }

  private publish(channel: string, message: string) {
    const isFull = this.pending >= MAX_PENDING || this.pendingBytes + message.length > MAX_PENDING_BYTES
    if (isFull || !this.publisher.isReady) return void this.counts.dropped++
    this.pending++
    this.pendingBytes += message.length
    this.counts.sent++
    this.publisher
      .sPublish(channel, message)
      .catch((error: Error) => this.onFailure(error))
      .finally(() => {
        this.pending--
        this.pendingBytes -= message.length
      })
  }

  private addSubscription(channel: string, onSubscribed: () => void) {
    const subscription = { onSubscribed, isRequested: false }
    this.subscriptions.set(channel, subscription)
    this.request(channel, subscription)
  }

  private request(channel: string, subscription: BusSubscription) {
    subscription.isRequested = true
    this.subscriber.sSubscribe(channel, this.onMessage).then(
      () => this.subscriptions.get(channel) === subscription && subscription.onSubscribed(),
      () => {
        subscription.isRequested = false
      },
    )
  }

  private readonly onMessage = (message: string, channel: string) => {
    this.counts.received++
    try {
      if (message.startsWith('e|')) return this.onEventMessage(message, channel)
      if (message.startsWith('p|')) return this.onPresenceMessage(message.slice(2), channel)
      if (message.startsWith('u|')) return this.handlers.onUserChange(message.slice(2))
      this.canaries.set(channel, performance.now())
    } catch (error) {
      // An exception here would make the Redis client drop its connection, with all subscriptions.
      this.log.warn({ err: error, channel }, 'Skipped a Redis message that cannot be parsed')
    }
  }

  /** Checks `<version>|<JSON>` here, because it may be parsed later, where nothing catches an exception. */
  private onPresenceMessage(message: string, channel: string) {
    const parsed = JSON.parse(message.slice(message.indexOf('|') + 1)) as { type?: unknown } | null
    if (typeof parsed?.type !== 'string') throw new SyntaxError('Not a presence message')
    this.handlers.onPresence(boardOf(channel), message)
  }

  private onEventMessage(message: string, channel: string) {
    const epochEnd = message.indexOf('|', 2)
    const seqEnd = message.indexOf('|', epochEnd + 1)
    const subjectEnd = message.indexOf('|', seqEnd + 1)
    const body = message.slice(subjectEnd + 1)
    const epoch = Number(message.slice(2, epochEnd))
    const seq = Number(message.slice(epochEnd + 1, seqEnd))
    if (!Number.isSafeInteger(epoch) || !Number.isSafeInteger(seq) || !/^(?:$|\{"type":")/.test(body))
      throw new SyntaxError('Not an event')
    if (body === '') return this.handlers.onAnnouncement(boardOf(channel), epoch, seq)
    this.handlers.onEvent(boardOf(channel), epoch, {
      seq,
      // The type is the first field of the body.
      type: body.slice(9, body.indexOf('"', 9)),
      subject_id: message.slice(seqEnd + 1, subjectEnd) || null,
      body,
    })
  }

  /** Publishes canaries, retries failed subscriptions, and replaces connections on which no canary arrives. */
  private check() {
    for (const redis of [this.publisher, this.subscriber]) if (!redis.isOpen) this.open(redis)
    for (const channel of this.canaries.keys()) this.publish(channel, 'canary')
    for (const [channel, subscription] of this.subscriptions) {
      if (!subscription.isRequested) this.request(channel, subscription)
    }
    const now = performance.now()
    const { lastCanaryAt } = this
    this.setDegraded(now - lastCanaryAt > CANARY_TIMEOUT_MS)
    if (this.failedAt !== undefined && lastCanaryAt > this.failedAt) this.onRecovery()
    if (now - lastCanaryAt > RECONNECT_AFTER_MS && now - this.reconnectedAt > RECONNECT_AFTER_MS) this.reconnect(now)
  }

  /** When the last canary arrived, on the node where it is oldest; 0 before the first. */
  get lastCanaryAt(): number {
    return Math.min(...this.canaries.values())
  }

  /** Replaces both connections, because it is unknown which one is broken. One that hangs while connecting would hang forever. */
  private reconnect(now: number) {
    this.reconnectedAt = now
    const broken = [this.publisher, this.subscriber]
    this.publisher = this.connect()
    this.subscriber = this.connect()
    for (const redis of broken) if (redis.isOpen) redis.destroy()
    for (const [channel, subscription] of this.subscriptions) this.request(channel, subscription)
  }

  private setDegraded(isDegraded: boolean) {
    if (this.isDegraded === isDegraded) return
    this.isDegraded = isDegraded
    this.handlers.onDegraded(isDegraded)
  }

  /** Called for a canary that arrived after the failure: messages already on their way do not count. */
  private onRecovery() {
    this.failedAt = undefined
    this.loggedCause = undefined
    this.log.info('Redis pub/sub works again')
  }

  /**
   * Logs the first failure only, and once more if a later one has a cause that can be corrected: a rejected certificate may
   * follow a first time-out. The recovery is logged as well.
   */
  private onFailure(error: Error) {
    const cause = describeRedisError(error, this.url)
    const isFirst = this.failedAt === undefined
    this.failedAt ??= performance.now()
    if (!isFirst && (cause === undefined || this.loggedCause !== undefined)) return
    this.loggedCause = cause
    this.log.warn(
      { err: error },
      `${cause ?? 'Redis cannot be reached.'} Events are read from the log until it is back.`,
    )
  }
}

/** Publishes a user's changed permissions from outside the service. Rejects when Redis does not reply. */
export async function publishUserChange(url: string, user_id: string) {
  const redis = makeRedis(url)
  redis.on('error', () => {})
  try {
    await withTimeout<unknown>(redis.connect(), TIMEOUT_MS)
    await withTimeout(redis.sPublish(USERS_CHANNEL, `u|${user_id}`), TIMEOUT_MS)
  } finally {
    redis.destroy()
  }
}

/** The sharded channel of a board. */
export const channelOf = (board_id: string) => `${tagOf(board_id)}:b:${board_id}`
/** The hash tag of a board keeps its channel and keys on one node. The last byte of an id is random: boards spread evenly. */
export const tagOf = (board_id: string) => `{${Number.parseInt(board_id.slice(-2), 16) % PARTITIONS}}`
const boardOf = (channel: string) => channel.slice(-36)
