import type { EventKind, LoggedEvent } from '../types.gen.ts'

/** The place of an event in the log of its board. A new epoch begins after the service was restored from a backup. */
interface Place {
  board_id: string
  epoch: number
}

/** An event of a board. */
export type WebhookEvent<K extends EventKind = EventKind> = LoggedEvent<K> & Place & { truncated?: undefined }

/** An event that is too large for a request. Read its resource by `data.id`, or the whole event with `listEvents`. */
export type TruncatedEvent = Omit<LoggedEvent, 'data'> & Place & { data: { id: string }; truncated: true }

/** Sent by `testWebhook`. */
export interface WebhookTest {
  type: 'webhook.test'
  board_id: string
  data: { webhook_id: string }
  timestamp: string
  truncated?: undefined
}

/** The events from `from` to `to` cannot be sent: load the board, which has their effect. The next event comes after `to`. */
export interface WebhookResync extends Place {
  type: 'webhook.resync'
  data: { board_id: string; from: string; to: string; reason: 'history_gone' | 'epoch' }
  timestamp: string
  truncated?: undefined
}

/** What a webhook sends. `type` determines the type of `data`, unless the event is `truncated`. */
export type WebhookMessage = WebhookEvent | TruncatedEvent | WebhookTest | WebhookResync

/** The position up to which a receiver has the board after this message: `<epoch>.<seq>`. A test has none. */
export function positionOf(message: WebhookMessage): string | undefined {
  if (message.type === 'webhook.test') return undefined
  return message.type === 'webhook.resync' ? message.data.to : `${message.epoch}.${message.seq}`
}

/**
 * Whether a message was handled before. `last` is the position of the last message of its board that was handled; undefined if
 * there is none. Positions are compared by epoch, then by number.
 */
export function isRepeated(message: WebhookMessage, last: string | undefined): boolean {
  const position = positionOf(message)
  if (position === undefined || last === undefined) return false
  const [epoch, seq] = partsOf(position)
  const [lastEpoch, lastSeq] = partsOf(last)
  return epoch < lastEpoch || (epoch === lastEpoch && seq <= lastSeq)
}

const partsOf = (position: string) => position.split('.').map(Number) as [epoch: number, seq: number]
