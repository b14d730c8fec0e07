import { createServer, type IncomingMessage, request as send } from 'node:http'
import { connect, type Socket } from 'node:net'
import { freePort } from '../ports.ts'

export interface WebProxy {
  base_url: string
  /** Where the service is now. */
  leadTo: (base_url: string) => void
  stop: () => Promise<void>
}
interface Manners {
  /** Answers every request for an upgrade itself, as a proxy does that knows nothing of WebSockets. */
  refuses_upgrades?: boolean
  /** Lets the upgrade through, and nothing behind it. */
  swallows_frames?: boolean
  /** What it calls itself. */
  server?: string
  /** Makes the service's clock differ. */
  clock_ms?: number
}

/** An HTTP proxy before the service, with bad manners on demand. */
export async function startWebProxy(base_url: string, manners: Manners = {}): Promise<WebProxy> {
  let target = new URL(base_url)
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    const { method = 'GET', url = '/', headers } = request
    const asked = send(new URL(url, target), { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, headersOf(answer))
      answer.pipe(response)
    })
    asked.on('error', () => response.writeHead(502).end('Bad Gateway'))
    request.pipe(asked)
  })
  const headersOf = ({ headers }: IncomingMessage) => {
    const { clock_ms, server: name } = manners
    const date = clock_ms === undefined ? headers.date : new Date(Date.now() + clock_ms).toUTCString()
    return { ...headers, ...(date && { date }), ...(name && { server: name }) }
  }
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  })
  server.on('upgrade', (request: IncomingMessage, client: Socket) => {
    if (manners.refuses_upgrades) {
      const name = manners.server ? `Server: ${manners.server}\r\n` : ''
      client.end(`HTTP/1.1 400 Bad Request\r\n${name}Content-Length: 0\r\nConnection: close\r\n\r\n`)
      return
    }
    const service = connect(Number(target.port), target.hostname)
    const raw = request.rawHeaders.flatMap((word, i, all) => (i % 2 === 0 ? [`${word}: ${all[i + 1]}`] : []))
    service.write([`GET ${request.url} HTTP/1.1`, ...raw, '', ''].join('\r\n'))
    service.on('error', () => client.destroy()).on('close', () => client.destroy())
    client.on('close', () => service.destroy())
    if (manners.swallows_frames) {
      service.once('data', (head: Buffer) => client.write(head.subarray(0, head.indexOf('\r\n\r\n') + 4)))
    } else service.pipe(client)
    client.pipe(service)
  })
  const port = await freePort()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return {
    base_url: `http://127.0.0.1:${port}`,
    leadTo: (url) => {
      target = new URL(url)
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
