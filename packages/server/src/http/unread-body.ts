import type { IncomingMessage } from 'node:http'

export const hasBody = ({ headers }: Pick<IncomingMessage, 'headers'>) =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

/**
 * Whether a request has a body and an `Upgrade` header, which is declined. If its body is left unread, Node stops reading from the
 * connection, so the connection must be closed: the client's next request would never get a response.
 */
export const isUpgradeWithBody = (raw: IncomingMessage) => raw.headers.upgrade !== undefined && hasBody(raw)
