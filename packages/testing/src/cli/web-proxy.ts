import { createServer, type IncomingMessage, request as send } from 'node:http'
import { connect, type Socket } from 'node:net'
import { freePort } from '../ports.ts'

export interface WebProxy {
  baseUrl: string
  /** Changes the address of the service. */
  setTarget: (baseUrl: string) => void
  stop: () => Promise<void>
}
interface ProxyFaults {
  /** Rejects WebSocket upgrades, like a proxy that does not support them. */
  rejectsUpgrades?: boolean
  /** Forwards the upgrade but none of the messages. */
  dropsFrames?: boolean
  /** The value of the Server header. */
  server?: string
  /** Shifts the Date header. */
  clockSkewMs?: number
}

/** An HTTP proxy in front of the service, with faults on demand. */
export async function startWebProxy(baseUrl: string, faults: ProxyFaults = {}): Promise<WebProxy> {
  let target = new URL(baseUrl)
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    const { method = 'GET', url = '/', headers } = request
    const forwarded = send(new URL(url, target), { method, headers, agent: false }, (upstream) => {
      response.writeHead(upstream.statusCode ?? 502, headersOf(upstream))
      upstream.pipe(response)
    })
    forwarded.on('error', () => response.writeHead(502).end('Bad Gateway'))
    request.pipe(forwarded)
  })
  const headersOf = ({ headers }: IncomingMessage) => {
    const { clockSkewMs, server: name } = faults
    const date = clockSkewMs === undefined ? headers.date : new Date(Date.now() + clockSkewMs).toUTCString()
    return { ...headers, ...(date && { date }), ...(name && { server: name }) }
  }
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  })
  server.on('upgrade', (request: IncomingMessage, client: Socket) => {
    if (faults.rejectsUpgrades) {
      const name = faults.server ? `Server: ${faults.server}\r\n` : ''
      client.end(`HTTP/1.1 400 Bad Request\r\n${name}Content-Length: 0\r\nConnection: close\r\n\r\n`)
      return
    }
    const service = connect(Number(target.port), target.hostname)
    const raw = request.rawHeaders.flatMap((word, i, all) => (i % 2 === 0 ? [`${word}: ${all[i + 1]}`] : []))
    service.write([`GET ${request.url} HTTP/1.1`, ...raw, '', ''].join('\r\n'))
    service.on('error', () => client.destroy()).on('close', () => client.destroy())
    client.on('close', () => service.destroy())
    if (faults.dropsFrames) {
      service.once('data', (head: Buffer) => client.write(head.subarray(0, head.indexOf('\r\n\r\n') + 4)))
    } else service.pipe(client)
    client.pipe(service)
  })
  const port = await freePort()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    setTarget: (url) => {
      target = new URL(url)
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
