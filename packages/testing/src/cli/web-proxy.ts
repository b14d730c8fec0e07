import { createServer, type IncomingMessage, type RequestListener, request as send } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, type Socket } from 'node:net'
import { freePort } from '../ports.ts'

export interface WebProxy {
  baseUrl: string
  /** Changes the address of the service. */
  setTarget: (baseUrl: string) => void
  /** Ends all connections. */
  dropConnections: () => void
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
  /** Terminates TLS with this certificate, and reports it to the service. */
  certificate?: { key: string; cert: string }
  /** Replaces the Host header, like a proxy that does not forward it. */
  replacesHost?: boolean
  /** Answers a repeated GET with the first response. */
  caches?: boolean
  /** Rejects requests with a larger body, like nginx. */
  maxBodyBytes?: number
  /** The address of `/metrics`, which a proxy must not forward. */
  metricsUrl?: string
  /** Every second request goes to this service. */
  secondTarget?: string
  /** Responses of the second target name this version, or this commit. */
  secondVersion?: string
  secondRevision?: string
}

/** An HTTP proxy in front of the service, with faults on demand. */
export async function startWebProxy(baseUrl: string, faults: ProxyFaults = {}): Promise<WebProxy> {
  let target = new URL(baseUrl)
  const sockets = new Set<Socket>()
  const cache = new Map<string, IncomingMessage['headers']>()
  let count = 0
  const handle: RequestListener = (request, response) => {
    const { method = 'GET', url = '/' } = request
    const { certificate, replacesHost, maxBodyBytes = Number.POSITIVE_INFINITY, metricsUrl, secondTarget } = faults
    if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes)
      return void response.writeHead(413, { 'content-type': 'text/html' }).end('<h1>413 Request Entity Too Large</h1>')
    const headers = {
      ...request.headers,
      ...(replacesHost && { host: 'upstream' }),
      ...(certificate && { 'x-forwarded-proto': 'https', 'x-forwarded-for': request.socket.remoteAddress }),
    }
    const isSecond = secondTarget !== undefined && count++ % 2 === 1
    const base = url === '/metrics' && metricsUrl ? metricsUrl : isSecond ? secondTarget : target
    const forwarded = send(new URL(url, base), { method, headers, agent: false }, (upstream) => {
      const cached = faults.caches && method === 'GET' ? cache.get(url) : undefined
      if (!cached) cache.set(url, upstream.headers)
      const { 'content-length': _, ...rest } = headersOf(upstream)
      response.writeHead(upstream.statusCode ?? 502, cached ?? (isSecond ? rest : headersOf(upstream)))
      const { secondVersion, secondRevision } = faults
      if (!isSecond || !(secondVersion ?? secondRevision)) return void upstream.pipe(response)
      let text = ''
      upstream.setEncoding('utf8')
      upstream.on('data', (part: string) => (text += part))
      upstream.on('end', () => {
        if (secondVersion) text = text.replace(/"version":"[^"]+"/, `"version":"${secondVersion}"`)
        if (secondRevision) text = text.replace(/"x-revision":"[^"]+"/, `"x-revision":"${secondRevision}"`)
        response.end(text)
      })
    })
    forwarded.on('error', () => response.writeHead(502).end('Bad Gateway'))
    request.pipe(forwarded)
  }
  const server = faults.certificate ? createTlsServer(faults.certificate, handle) : createServer(handle)
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
  const dropConnections = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    baseUrl: `${faults.certificate ? 'https' : 'http'}://127.0.0.1:${port}`,
    setTarget: (url) => {
      target = new URL(url)
    },
    dropConnections,
    async stop() {
      dropConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
