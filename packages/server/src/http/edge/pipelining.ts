import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'

/** Maximum number of pipelined requests; no real client sends this many. */
const MAX_PIPELINED = 100
/** The pipelined requests that wait on a connection. Undefined when no request is running. */
const QUEUE = Symbol('queue')
type SocketWithQueue = Socket & { [QUEUE]?: (() => void)[] | undefined }

/**
 * Handles the pipelined requests of a connection one after the other. Responses are sent in order anyway, and handled in
 * parallel, one connection could take hundreds of slots. Also, when the connection ends with an upgrade or CONNECT, Node emits
 * `close` only for the request that is being answered, so the others would never release what they hold.
 */
export function serializeRequests(handle: RequestListener): RequestListener {
  return (request, response) => {
    const socket: SocketWithQueue = request.socket
    const start = () => {
      response.once('close', () => startNext(socket))
      handle(request, response)
    }
    if (!socket[QUEUE]) {
      socket[QUEUE] = []
      start()
    } else if (socket[QUEUE].push(start) >= MAX_PIPELINED) socket.destroy()
  }
}

function startNext(socket: SocketWithQueue) {
  // The previous response may have closed the connection.
  const start = socket.writable ? socket[QUEUE]?.shift() : undefined
  if (start) start()
  else socket[QUEUE] = undefined
}
