import { createClient } from 'redis'
import type { Committed } from '../core/change.ts'

/** Boards are spread over this many hash tags, so that a cluster can spread them over its nodes. */
const PARTITIONS = 256
const PATIENCE_MS = 1_000

interface Log {
  info: (message: string) => void
  warn: (details: object, message: string) => void
}

/** One factory, so that the client has one type. Nothing is queued while Redis is away: the log keeps what it missed. */
const makeRedis = (url: string) =>
  createClient({
    url,
    disableOfflineQueue: true,
    socket: { connectTimeout: PATIENCE_MS, reconnectStrategy: (tries) => Math.min(100 * 2 ** tries, 2_000) },
  })

/** The doorbell: tells the other instances that a board has new events. Nobody waits for it, and nothing is lost with it. */
export class Bus {
  private readonly redis: ReturnType<typeof makeRedis>
  private readonly log: Log
  private isFailing = false

  constructor(url: string, log: Log) {
    this.log = log
    this.redis = makeRedis(url)
    this.redis.on('error', (error: Error) => this.failed(error))
    this.redis.on('ready', () => this.recovered())
    // The client goes on trying by itself; a service without Redis still works.
    this.redis.connect().catch((error: Error) => this.failed(error))
  }

  announce = ({ board_id, epoch, events }: Committed) => {
    if (!this.redis.isReady) return
    for (const { seq, body } of events) {
      this.redis.sPublish(channelOf(board_id), `1|${epoch}|${seq}|${body}`).then(
        () => this.recovered(),
        (error: Error) => this.failed(error),
      )
    }
  }

  ping = async () => {
    await this.redis.ping()
  }

  close() {
    this.redis.destroy()
  }

  /** A store that is away would fill the log with one sentence: it is said once, and once more when it is back. */
  private failed(error: Error) {
    if (this.isFailing) return
    this.isFailing = true
    this.log.warn({ err: error }, 'Redis cannot be reached; events are still kept in the log')
  }

  private recovered() {
    if (!this.isFailing) return
    this.isFailing = false
    this.log.info('Redis can be reached again')
  }
}

/** The shard channel of a board. UUIDs are random enough that their last byte spreads them evenly. */
export const channelOf = (board_id: string) => `{${Number.parseInt(board_id.slice(-2), 16) % PARTITIONS}}:b:${board_id}`
