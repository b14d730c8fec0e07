import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import { connect, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { freePort } from '../ports.ts'

/**
 * Faults of the first requests of a run: `lose` executes them and drops the response, `hang` does neither, `busy`,
 * `limited` and `gateway` respond instead of the service. `noSockets` rejects WebSocket upgrades.
 */
export type Fault = 'lose' | 'hang' | 'busy' | 'limited' | 'gateway' | 'noSockets' | 'none'
interface SeenRequest {
  method: string
  path: string
  key: string | undefined
}

const cors = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'Retry-After' }
const responses: Partial<Record<Fault, [status: number, headers: Record<string, string>, body: string]>> = {
  busy: [503, { 'retry-after': '1', 'content-type': 'application/json' }, '{"detail":"Busy.","code":"board_busy"}'],
  limited: [429, { 'retry-after': '60' }, '{"detail":"Too many.","code":"too_many_requests"}'],
  gateway: [502, { 'content-type': 'text/html' }, '<h1>Bad Gateway</h1>'],
}

/**
 * HTTP proxy with faults, controlled by the URL so that browser pages can use it: `/<fault>/<n>/<run>` before a path
 * makes the first n requests of a run fail, `/seen/<run>` lists its requests, `/cut/<run>` resets its WebSockets,
 * `/blackhole/<run>` silently drops their data. `/` is a page from another origin than the service's.
 */
export async function startFaultyProxy(baseUrl: string) {
  const runs = new Map<string, SeenRequest[]>()
  const proxied: ProxiedSocket[] = []
  const server = createServer((request, response) => {
    if (request.url === '/') {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Front end</title>')
      return
    }
    const { fault, count, run, rest } = addressOf(request)
    if (fault === 'seen') {
      response.writeHead(200, cors).end(JSON.stringify(runs.get(count) ?? []))
      return
    }
    if (fault === 'cut' || fault === 'blackhole') {
      for (const socket of proxied) if (socket.run === count) (fault === 'cut' ? cut : blackhole)(socket)
      response.writeHead(200, cors).end()
      return
    }
    // Preflight requests do not count.
    if (request.method === 'OPTIONS') return forward(baseUrl + rest, request, response)
    const seen = runs.get(run) ?? []
    runs.set(run, seen)
    seen.push({
      method: request.method ?? '',
      path: rest,
      key: request.headers['idempotency-key'] as string | undefined,
    })
    if (seen.length > Number(count)) return forward(baseUrl + rest, request, response)
    const faultResponse = responses[fault as Fault]
    if (faultResponse) response.writeHead(faultResponse[0], { ...faultResponse[1], ...cors }).end(faultResponse[2])
    else if (fault === 'lose') forward(baseUrl + rest, request, response, true)
  })
  server.on('upgrade', (request: IncomingMessage, client: Socket) => {
    const { fault, run, rest } = addressOf(request)
    if (fault === 'noSockets') client.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
    else proxied.push({ run, ends: [client, upgraded(baseUrl, rest, request, client)] })
  })
  const port = await freePort()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections()
      proxied.forEach(cut)
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function forward(url: string, request: IncomingMessage, response: ServerResponse, isLost = false) {
  const { method, headers } = request
  const proxy = async () => {
    const body = await buffer(request)
    const upstream = await new Promise<IncomingMessage>((resolve, reject) => {
      send(url, { method, headers: { ...headers, connection: 'close' } }, resolve)
        .once('error', reject)
        .end(body)
    })
    const content = await buffer(upstream)
    if (isLost) response.destroy()
    else response.writeHead(upstream.statusCode ?? 0, upstream.headers).end(content)
  }
  proxy().catch(() => response.destroy())
}

function addressOf({ url = '' }: IncomingMessage) {
  const [, fault = '', count = '', run = '', rest = ''] = /^\/(\w+)\/(\w+)(?:\/(\w+)(\/.*))?$/.exec(url) ?? []
  return { fault, count, run, rest }
}

/** The two ends of a proxied WebSocket. */
interface ProxiedSocket {
  run: string
  ends: [client: Socket, service: Socket]
}

function upgraded(baseUrl: string, path: string, { rawHeaders }: IncomingMessage, client: Socket): Socket {
  const { port, hostname } = new URL(baseUrl)
  const service = connect(Number(port), hostname)
  const headers = rawHeaders.flatMap((word, i, all) => (i % 2 === 0 ? [`${word}: ${all[i + 1]}`] : []))
  service.write([`GET ${path} HTTP/1.1`, ...headers, '', ''].join('\r\n'))
  service.on('error', () => {}).on('close', () => client.destroy())
  client.on('error', () => {}).on('close', () => service.destroy())
  service.pipe(client).pipe(service)
  return service
}

function cut({ ends }: ProxiedSocket) {
  for (const end of ends) end.destroy()
}
function blackhole({ ends: [client, service] }: ProxiedSocket) {
  client.unpipe(service).resume()
  service.unpipe(client).resume()
}
