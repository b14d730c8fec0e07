import { Agent, createServer, type IncomingMessage, type OutgoingHttpHeaders, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { WebSocket, WebSocketServer } from 'ws'
import { freePort } from './ports.ts'

interface Answer {
  status: number
  headers: OutgoingHttpHeaders
  content: Buffer
}
/** What is spoiled on the way to the client. Everything else passes as it is. */
export interface Spoiling {
  answer?: (request: { method: string; path: string }, answer: Answer) => Answer
  /** What the client is told in place of a message of the socket. */
  tells?: (message: { type: string }, text: string) => string[]
}

/** A proxy for HTTP and WebSocket that breaks one promise of the service behind it, so that the service needs no hooks. */
export async function startSpoilingProxy(base_url: string, { answer: spoil, tells }: Spoiling) {
  const agent = new Agent({ keepAlive: true })
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    const forward = async () => {
      const body = await buffer(request)
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        send(base_url + url, { method, headers, agent }, resolve)
          .once('error', reject)
          .end(body)
      })
      const { 'transfer-encoding': _, 'content-length': __, connection: ___, ...rest } = answer.headers
      const given: Answer = { status: answer.statusCode ?? 0, headers: rest, content: await buffer(answer) }
      const { status, headers: kept, content } = spoil?.({ method, path: url.split('?')[0] ?? '' }, given) ?? given
      response.writeHead(status, kept).end(content)
    }
    forward().catch(() => response.destroy())
  })
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (client) => {
      relay(client, new WebSocket(base_url.replace('http', 'ws') + request.url), tells)
    })
  })
  const port = await freePort()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return {
    base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const client of sockets.clients) client.terminate()
      server.closeAllConnections()
      agent.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function relay(client: WebSocket, upstream: WebSocket, tells: Spoiling['tells']) {
  // Nothing is read from the client until there is somebody to hand it to.
  client.pause()
  upstream.once('open', () => client.resume())
  client.on('message', (data, isBinary) => upstream.send(data, { binary: isBinary }))
  upstream.on('message', (data: Buffer, isBinary) => {
    const text = data.toString()
    if (!tells) client.send(data, { binary: isBinary })
    else for (const told of tells(JSON.parse(text) as { type: string }, text)) client.send(told)
  })
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    one.on('error', () => {})
    one.once('close', (code, reason) => closeLike(other, code, reason))
  }
}
/** 1005 and 1006 say that there was no code, or no close frame: neither can be sent. */
function closeLike(socket: WebSocket, code: number, reason: Buffer) {
  if (code === 1006) socket.terminate()
  else if (code === 1005) socket.close()
  else socket.close(code, reason)
}
