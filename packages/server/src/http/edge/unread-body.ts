import type { IncomingMessage } from 'node:http'

export const hasBody = ({ headers }: Pick<IncomingMessage, 'headers'>) =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

/**
 * Whether a request offers another protocol, which is declined, and has a body. When such a body is left unread, Node reads
 * nothing more from its connection: whoever sent it must be told that it is over, or he waits for his next answer in vain.
 */
export const isUpgradeWithBody = (raw: IncomingMessage) => raw.headers.upgrade !== undefined && hasBody(raw)
