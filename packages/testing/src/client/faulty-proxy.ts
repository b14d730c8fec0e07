import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import { connect, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { freePort } from '../ports.ts'

/**
 * What happens to the first requests of a run: `lose` does them and says nothing, `hang` neither does nor says anything, the
 * others answer in place of the service. `barred` lets no socket through.
 */
export type Fault = 'lose' | 'hang' | 'busy' | 'limited' | 'gateway' | 'barred' | 'none'
interface Seen {
  method: string
  path: string
  key: string | undefined
}

const cors = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'Retry-After' }
const answers: Partial<Record<Fault, [status: number, headers: Record<string, string>, body: string]>> = {
  busy: [503, { 'retry-after': '1', 'content-type': 'application/json' }, '{"detail":"Busy.","code":"board_busy"}'],
  limited: [429, { 'retry-after': '60' }, '{"detail":"Too many.","code":"too_many_requests"}'],
  gateway: [502, { 'content-type': 'text/html' }, '<h1>Bad Gateway</h1>'],
}

/**
 * Stands before a service. `/<fault>/<n>/<run>` before a path makes the first n requests of that run fail, so that a page
 * in a browser can ask for faults too; `/seen/<run>` tells what was sent, `/cut/<run>` breaks its sockets, `/deaden/<run>` lets nothing
 * more through them. `/` is a page, of another origin than the service's.
 */
export async function startFaultyProxy(base_url: string) {
  const runs = new Map<string, Seen[]>()
  const lines: Line[] = []
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
    if (fault === 'cut' || fault === 'deaden') {
      for (const line of lines) if (line.run === count) (fault === 'cut' ? cut : deaden)(line)
      response.writeHead(200, cors).end()
      return
    }
    // A preflight is the browser's, not the client's.
    if (request.method === 'OPTIONS') return forward(base_url + rest, request, response)
    const seen = runs.get(run) ?? []
    runs.set(run, seen)
    seen.push({
      method: request.method ?? '',
      path: rest,
      key: request.headers['idempotency-key'] as string | undefined,
    })
    if (seen.length > Number(count)) return forward(base_url + rest, request, response)
    const answer = answers[fault as Fault]
    if (answer) response.writeHead(answer[0], { ...answer[1], ...cors }).end(answer[2])
    else if (fault === 'lose') forward(base_url + rest, request, response, true)
  })
  server.on('upgrade', (request: IncomingMessage, client: Socket) => {
    const { fault, run, rest } = addressOf(request)
    if (fault === 'barred') client.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
    else lines.push({ run, ends: [client, upgraded(base_url, rest, request, client)] })
  })
  const port = await freePort()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return {
    base_url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections()
      lines.forEach(cut)
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function forward(url: string, request: IncomingMessage, response: ServerResponse, isLost = false) {
  const { method, headers } = request
  const pass = async () => {
    const body = await buffer(request)
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      send(url, { method, headers: { ...headers, connection: 'close' } }, resolve)
        .once('error', reject)
        .end(body)
    })
    const content = await buffer(answer)
    if (isLost) response.destroy()
    else response.writeHead(answer.statusCode ?? 0, answer.headers).end(content)
  }
  pass().catch(() => response.destroy())
}

function addressOf({ url = '' }: IncomingMessage) {
  const [, fault = '', count = '', run = '', rest = ''] = /^\/(\w+)\/(\w+)(?:\/(\w+)(\/.*))?$/.exec(url) ?? []
  return { fault, count, run, rest }
}

/** The two ends of a socket that goes through. */
interface Line {
  run: string
  ends: [client: Socket, service: Socket]
}

function upgraded(base_url: string, path: string, { rawHeaders }: IncomingMessage, client: Socket): Socket {
  const { port, hostname } = new URL(base_url)
  const service = connect(Number(port), hostname)
  const headers = rawHeaders.flatMap((word, i, all) => (i % 2 === 0 ? [`${word}: ${all[i + 1]}`] : []))
  service.write([`GET ${path} HTTP/1.1`, ...headers, '', ''].join('\r\n'))
  service.on('error', () => {}).on('close', () => client.destroy())
  client.on('error', () => {}).on('close', () => service.destroy())
  service.pipe(client).pipe(service)
  return service
}

function cut({ ends }: Line) {
  for (const end of ends) end.destroy()
}
function deaden({ ends: [client, service] }: Line) {
  client.unpipe(service).resume()
  service.unpipe(client).resume()
}
