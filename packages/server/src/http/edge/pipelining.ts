import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'

/** More than any client sends before it has read an answer. */
const MAX_UNANSWERED = 100
/** On the connection: who waits for the answers before his own. Nothing when nobody is being answered. */
const WAITING = Symbol('waiting')
type Lined = Socket & { [WAITING]?: (() => void)[] | undefined }

/**
 * Hands on the requests of a connection one after the other. A client may send many without waiting, and gets the answers
 * in their order: if all were worked for at once, one connection could have the places of hundreds. And when it ends with
 * an upgrade or CONNECT, Node tells the end only of the request that is being answered; what the others held would be held for
 * ever. (Older versions of Node do so however it ends.)
 */
export function serializeRequests(handle: RequestListener): RequestListener {
  return (request, response) => {
    const socket: Lined = request.socket
    const begin = () => {
      response.once('close', () => next(socket))
      handle(request, response)
    }
    if (!socket[WAITING]) {
      socket[WAITING] = []
      begin()
    } else if (socket[WAITING].push(begin) >= MAX_UNANSWERED) socket.destroy()
  }
}

function next(socket: Lined) {
  // The answer before it may have been the last on this connection.
  const begin = socket.writable ? socket[WAITING]?.shift() : undefined
  if (begin) begin()
  else socket[WAITING] = undefined
}
