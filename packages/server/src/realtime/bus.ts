import type { CommittedChange } from '../core/event-log.ts'
import { makeRedis, type Redis, withTimeout } from '../platform/redis.ts'
import type { LiveEvent } from './hub.ts'

/** Boards are spread over this many hash tags, so that a cluster can spread them over its nodes. */
const PARTITIONS = 256
const PATIENCE_MS = 1_000
/** How often an instance rings for itself, and how long it waits for the sound before it trusts the bell no longer. */
const CANARY_MS = 250
const CANARY_PATIENCE_MS = 600
/** A connection that is deaf for so long is replaced, whatever it says of itself. */
const DEAF_MS = 5_000
/** How much may be under way before nothing more is sent. What is not sent is in the log. */
const MAX_PENDING = 512
const MAX_PENDING_BYTES = 16_777_216
/**
 * Events with larger bodies are announced by their number alone, and other instances read them from the log: Redis closes
 * the subscriptions of clients that cannot take a message of some megabytes soon enough.
 */
const MAX_BODY_BYTES = 65_536
const USERS_CHANNEL = '{users}:changed'

interface Log {
  info: (message: string) => void
  warn: (details: object, message: string) => void
}

/** Who is told what the bus hears. */
export interface BusListener {
  event: (board_id: string, epoch: number, event: LiveEvent) => void
  /** An event that is too large to be published; the log has it. */
  announced: (board_id: string, epoch: number, seq: number) => void
  presence: (board_id: string, message: string) => void
  /** A user's rights may have changed: his connections are to be looked at now. */
  user: (user_id: string) => void
  /** Whether messages may be getting lost. */
  suspect: (isSuspect: boolean) => void
}

/**
 * The doorbell between instances, over sharded publish and subscribe. It may lose, repeat and reorder; nobody waits for
 * it, and nothing rests on it. One connection speaks and one listens, to each node of a cluster.
 */
export class Bus {
  private readonly url: string
  private readonly log: Log
  private readonly listener: BusListener
  private speaker: Redis
  private hearer: Redis
  /** The channels to be heard, and who wants to know when they are. */
  private readonly wanted = new Map<string, { done: () => void; isAsked: boolean }>()
  private readonly canaries: Map<string, number>
  private readonly timer: NodeJS.Timeout
  private renewedAt = performance.now()
  private pending = 0
  private pendingBytes = 0
  /** When it was last said that Redis is away; undefined when it is there. */
  private failedAt: number | undefined
  /** Until it has been heard for the first time the bell may just as well be broken. */
  isSuspect = true
  /** What went through it so far. */
  readonly counts = { sent: 0, received: 0, dropped: 0 }

  constructor(url: string, instanceId: string, log: Log, listener: BusListener) {
    this.url = url
    this.log = log
    this.listener = listener
    this.speaker = this.connect()
    this.hearer = this.connect()
    // A cluster has several nodes that can be deaf each for itself: sixteen tags reach them all.
    const tags = url.includes(',') ? Array.from({ length: 16 }, (_, i) => i * 16) : [0]
    this.canaries = new Map(tags.map((tag) => [`{${tag}}:canary:${instanceId}`, 0]))
    for (const channel of [...this.canaries.keys(), USERS_CHANNEL]) this.want(channel, () => {})
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

  /** `done` when the board's channel is heard. A bell that was lost and found again is told by `suspect`. */
  subscribe(board_id: string, done: () => void) {
    this.want(channelOf(board_id), done)
  }

  unsubscribe(board_id: string) {
    const channel = channelOf(board_id)
    this.wanted.delete(channel)
    // With its listener: else the client does not know, until Redis has answered, that whoever asks meanwhile must ask anew.
    this.hearer.sUnsubscribe(channel, this.hear).catch((error: Error) => this.failed(error))
  }

  /** Runs a script on the keys of one board. Rejects when Redis does not answer in time. */
  async script({ sha, text }: { sha: string; text: string }, keys: string[], args: string[]): Promise<unknown> {
    const call = { keys, arguments: args }
    return withTimeout(
      this.speaker.evalSha(sha, call).catch((error: Error) => {
        if (error.message.startsWith('NOSCRIPT')) return this.speaker.eval(text, call)
        throw error
      }),
      PATIENCE_MS,
    )
  }

  /** Rejects when Redis does not answer. */
  async ping() {
    await withTimeout(this.speaker.sPublish('{0}:ping', ''), PATIENCE_MS)
  }

  close() {
    clearInterval(this.timer)
    for (const redis of [this.speaker, this.hearer]) if (redis.isOpen) redis.destroy()
  }

  private connect(): Redis {
    const redis = makeRedis(this.url)
    redis.on('error', (error: Error) => this.failed(error))
    this.open(redis)
    return redis
  }

  /** A client goes on trying by itself; a cluster of which no node answered does not. A service without Redis still works. */
  private open(redis: Redis) {
    redis.connect().catch((error: Error) => this.failed(error))
  }

  private publish(channel: string, message: string) {
    const isFull = this.pending >= MAX_PENDING || this.pendingBytes + message.length > MAX_PENDING_BYTES
    if (isFull || !this.speaker.isReady) return void this.counts.dropped++
    this.pending++
    this.pendingBytes += message.length
    this.counts.sent++
    this.speaker
      .sPublish(channel, message)
      .catch((error: Error) => this.failed(error))
      .finally(() => {
        this.pending--
        this.pendingBytes -= message.length
      })
  }

  private want(channel: string, done: () => void) {
    const want = { done, isAsked: false }
    this.wanted.set(channel, want)
    this.ask(channel, want)
  }

  private ask(channel: string, want: { done: () => void; isAsked: boolean }) {
    want.isAsked = true
    this.hearer.sSubscribe(channel, this.hear).then(
      () => this.wanted.get(channel) === want && want.done(),
      () => {
        want.isAsked = false
      },
    )
  }

  private readonly hear = (message: string, channel: string) => {
    this.counts.received++
    try {
      if (message.startsWith('e|')) return this.hearEvent(message, channel)
      if (message.startsWith('p|')) return this.hearPresence(message.slice(2), channel)
      if (message.startsWith('u|')) return this.listener.user(message.slice(2))
      this.canaries.set(channel, performance.now())
    } catch (error) {
      // Thrown on, it would make the client of Redis drop its connection, and all subscriptions with it.
      this.log.warn({ err: error, channel }, 'A message in Redis cannot be read, and is skipped')
    }
  }

  /** `<version>|<JSON>`. It is checked here, because it may be taken later, where nothing catches an error. */
  private hearPresence(message: string, channel: string) {
    const parsed = JSON.parse(message.slice(message.indexOf('|') + 1)) as { type?: unknown } | null
    if (typeof parsed?.type !== 'string') throw new SyntaxError('This is not a message about presence')
    this.listener.presence(boardOf(channel), message)
  }

  private hearEvent(message: string, channel: string) {
    const epochEnd = message.indexOf('|', 2)
    const seqEnd = message.indexOf('|', epochEnd + 1)
    const subjectEnd = message.indexOf('|', seqEnd + 1)
    const body = message.slice(subjectEnd + 1)
    const epoch = Number(message.slice(2, epochEnd))
    const seq = Number(message.slice(epochEnd + 1, seqEnd))
    if (!Number.isSafeInteger(epoch) || !Number.isSafeInteger(seq) || !/^(?:$|\{"type":")/.test(body))
      throw new SyntaxError('This is not an event')
    if (body === '') return this.listener.announced(boardOf(channel), epoch, seq)
    this.listener.event(boardOf(channel), epoch, {
      seq,
      // The text begins with its type.
      type: body.slice(9, body.indexOf('"', 9)),
      subject_id: message.slice(seqEnd + 1, subjectEnd) || null,
      body,
    })
  }

  /** Rings for itself, asks again for what is not heard yet, and replaces connections that have gone deaf, or dumb. */
  private check() {
    for (const redis of [this.speaker, this.hearer]) if (!redis.isOpen) this.open(redis)
    for (const channel of this.canaries.keys()) this.publish(channel, 'canary')
    for (const [channel, want] of this.wanted) if (!want.isAsked) this.ask(channel, want)
    const now = performance.now()
    const { heard_at } = this
    this.setSuspect(now - heard_at > CANARY_PATIENCE_MS)
    if (this.failedAt !== undefined && heard_at > this.failedAt) this.recovered()
    if (now - heard_at > DEAF_MS && now - this.renewedAt > DEAF_MS) this.renew(now)
  }

  /** When it was last heard, on every node; 0 before the first time. */
  get heard_at(): number {
    return Math.min(...this.canaries.values())
  }

  /** Which of the two does not work cannot be told from here. One that hangs as it connects would hang for ever. */
  private renew(now: number) {
    this.renewedAt = now
    const broken = [this.speaker, this.hearer]
    this.speaker = this.connect()
    this.hearer = this.connect()
    for (const redis of broken) if (redis.isOpen) redis.destroy()
    for (const [channel, want] of this.wanted) this.ask(channel, want)
  }

  private setSuspect(isSuspect: boolean) {
    if (this.isSuspect === isSuspect) return
    this.isSuspect = isSuspect
    this.listener.suspect(isSuspect)
  }

  /** What was on its way as Redis went does not count: it must be heard after it was missed. */
  private recovered() {
    this.failedAt = undefined
    this.log.info('Redis can be heard again')
  }

  /** A store that is away would fill the log with one sentence: it is said once, and once more when it is back. */
  private failed(error: Error) {
    if (this.failedAt !== undefined) return
    this.failedAt = performance.now()
    this.log.warn(
      { err: error },
      'Redis cannot be reached; events are still kept in the log, and sockets read them there',
    )
  }
}

/** Rings once, from outside the service: a user's rights have changed. Rejects when Redis does not answer. */
export async function publishUserChange(url: string, user_id: string) {
  const redis = makeRedis(url)
  redis.on('error', () => {})
  try {
    await withTimeout<unknown>(redis.connect(), PATIENCE_MS)
    await withTimeout(redis.sPublish(USERS_CHANNEL, `u|${user_id}`), PATIENCE_MS)
  } finally {
    redis.destroy()
  }
}

/** The shard channel of a board. The last byte of an id is random enough to spread boards evenly. */
export const channelOf = (board_id: string) => `${tagOf(board_id)}:b:${board_id}`
/** The hash tag of a board: its channel and its keys live on one node. */
export const tagOf = (board_id: string) => `{${Number.parseInt(board_id.slice(-2), 16) % PARTITIONS}}`
const boardOf = (channel: string) => channel.slice(-36)
