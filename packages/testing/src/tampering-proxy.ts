import { Agent, createServer, type IncomingMessage, type OutgoingHttpHeaders, request as send } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { WebSocket, WebSocketServer } from 'ws'
import { listenOnFreePort } from './ports.ts'

interface ProxiedResponse {
  status: number
  headers: OutgoingHttpHeaders
  content: Buffer
}
/** Changes to responses and messages on their way to the client. Everything else is forwarded unchanged. */
export interface Tampering {
  replaceResponse?: (request: { method: string; path: string }, response: ProxiedResponse) => ProxiedResponse
  /** The messages that the client receives instead of one. */
  replaceMessage?: (message: { type: string }, text: string) => string[]
}

/** A proxy for HTTP and WebSocket that tampers with the service's output, so that checkers can be tested without hooks in the service. */
export async function startTamperingProxy(baseUrl: string, { replaceResponse, replaceMessage }: Tampering) {
  const agent = new Agent({ keepAlive: true })
  // Longer than any pause of a client: on a busy machine it would send a request on a connection that is just being closed.
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    const { method = '', url = '', headers } = request
    const forward = async () => {
      const body = await buffer(request)
      const received = await new Promise<IncomingMessage>((resolve, reject) => {
        send(baseUrl + url, { method, headers, agent }, resolve)
          .once('error', reject)
          .end(body)
      })
      const { 'transfer-encoding': _, 'content-length': __, connection: ___, ...rest } = received.headers
      const given: ProxiedResponse = {
        status: received.statusCode ?? 0,
        headers: rest,
        content: await buffer(received),
      }
      const {
        status,
        headers: kept,
        content,
      } = replaceResponse?.({ method, path: url.split('?')[0] ?? '' }, given) ?? given
      response.writeHead(status, kept).end(content)
    }
    forward().catch(() => response.destroy())
  })
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (client) => {
      relay(client, new WebSocket(baseUrl.replace('http', 'ws') + request.url), replaceMessage)
    })
  })
  const port = await listenOnFreePort(server)
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const client of sockets.clients) client.terminate()
      server.closeAllConnections()
      agent.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function relay(client: WebSocket, upstream: WebSocket, replaceMessage: Tampering['replaceMessage']) {
  // Reads nothing from the client until the upstream socket is open.
  client.pause()
  upstream.once('open', () => client.resume())
  client.on('message', (data, isBinary) => upstream.send(data, { binary: isBinary }))
  upstream.on('message', (data: Buffer, isBinary) => {
    const text = data.toString()
    if (!replaceMessage) client.send(data, { binary: isBinary })
    else for (const message of replaceMessage(JSON.parse(text) as { type: string }, text)) client.send(message)
  })
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    one.on('error', () => {})
    one.once('close', (code, reason) => closeLike(other, code, reason))
  }
}
/** 1005 and 1006 stand for a missing code and a missing close frame, and cannot be sent. */
function closeLike(socket: WebSocket, code: number, reason: Buffer) {
  if (code === 1006) socket.terminate()
  else if (code === 1005) socket.close()
  else socket.close(code, reason)
}
