import { createHmac } from 'node:crypto'
import { VERSION } from '../platform/version.ts'

/** What is sent in one request: its id, which stays the same in every attempt, and its body. */
export interface Message {
  id: string
  type: string
  body: string
}

/** The event as sockets receive it, with its place in the log. `body` is its text in the log, which is not parsed. */
export function eventMessage(event: {
  board_id: string
  epoch: number
  seq: number
  type: string
  body: string
  is_truncated: boolean
}): Message {
  const { board_id, epoch, seq, type, body, is_truncated } = event
  const place = `"board_id":"${board_id}","epoch":${epoch},"seq":${seq},${is_truncated ? '"truncated":true,' : ''}`
  return { id: `evt_${board_id}_${epoch}_${seq}`, type, body: `{${place}${body.slice(1)}` }
}

interface Position {
  epoch: number
  seq: number
}
export const positionText = ({ epoch, seq }: Position) => `${epoch}.${seq}`

/** Says that events between two positions cannot be sent: the receiver loads the board and continues after `to`. */
export function resyncMessage(
  board_id: string,
  { from, to, reason }: { from: Position; to: Position; reason: 'history_gone' | 'epoch' },
): Message {
  const type = 'webhook.resync'
  const data = { board_id, from: positionText(from), to: positionText(to), reason }
  const body = JSON.stringify({ type, board_id, epoch: to.epoch, data, timestamp: new Date().toISOString() })
  return { id: `evt_${board_id}_${to.epoch}_${to.seq}_resync`, type, body }
}

export function testMessage(board_id: string, webhook_id: string, id: string): Message {
  const type = 'webhook.test'
  const body = JSON.stringify({ type, board_id, data: { webhook_id }, timestamp: new Date().toISOString() })
  return { id: `test_${id}`, type, body }
}

const SECRET_PREFIX = 'whsec_'
export const newSecretText = (bytes: Buffer) => `${SECRET_PREFIX}${bytes.toString('base64')}`

/** The headers of a request, signed with each secret as Standard Webhooks 1.0.0 defines it. */
export function signedHeaders(
  { id, body }: Message,
  webhook_id: string,
  secrets: readonly string[],
): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1_000)
  const sign = (secret: string) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  }
  return {
    'content-type': 'application/json',
    'user-agent': `Lockstep-Webhooks/${VERSION}`,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets.map(sign).join(' '),
    'lockstep-webhook': webhook_id,
  }
}
