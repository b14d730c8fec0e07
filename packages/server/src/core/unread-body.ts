import type { IncomingMessage } from 'node:http'

export const hasBody = ({ headers }: Pick<IncomingMessage, 'headers'>) =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

/**
 * Whether a connection is of no more use after an answer: Node reads nothing more from it when another protocol was offered and
 * declined, and the body was left unread. Whoever sent it must be told, or he waits in vain.
 */
export const isUnreadOffer = (raw: IncomingMessage) =>
  raw.headers.upgrade !== undefined && hasBody(raw) && !raw.complete
