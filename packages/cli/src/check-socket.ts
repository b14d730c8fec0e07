import { randomBytes } from 'node:crypto'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Client } from '@lockstep/client'
import { type LiveBoard, openBoard } from '@lockstep/client/live'
import { type Check, ok, PATIENCE_MS, wrong } from './check.ts'
import { failureOf } from './failure.ts'
import { loadBoard } from './find.ts'
import { duration, harmless } from './terminal.ts'

const EVENT_MS = 1_000

/**
 * Whether a WebSocket gets through. The service lets anybody in and then closes the socket of who may not, so that a
 * refusal before that comes from something on the way.
 */
export async function checkUpgrade(url: string): Promise<Check> {
  const { answer, is_closed_properly } = await upgrade(`${url}/ws/boards/none?token=none`)
  if (answer === undefined) return wrong('websocket', 'the connection broke off', proxySettings(''))
  const server = [answer.headers['server'], answer.headers['via']].filter(Boolean).join(', ')
  if (answer.statusCode !== 101) {
    const by = server ? ` by ${harmless(server)}` : ''
    return wrong('websocket', `the upgrade was answered ${answer.statusCode}${by}, not 101`, proxySettings(server))
  }
  if (is_closed_properly) return ok('websocket', 'gets through')
  return wrong('websocket', 'the upgrade gets through, but no message behind it', proxySettings(server))
}

function upgrade(url: string): Promise<{ answer?: IncomingMessage; is_closed_properly?: boolean }> {
  const send = url.startsWith('https:') ? requestHttps : requestHttp
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
  }
  return new Promise((resolve) => {
    const asked = send(url, { headers, agent: false })
    const timer = setTimeout(() => asked.destroy(), PATIENCE_MS)
    const end = (result: { answer?: IncomingMessage; is_closed_properly?: boolean }) => {
      clearTimeout(timer)
      asked.destroy()
      resolve(result)
    }
    asked.on('error', () => end({}))
    asked.on('response', (answer) => {
      answer.resume()
      end({ answer })
    })
    asked.on('upgrade', (answer, socket, head) => {
      const finish = (first: Buffer) => {
        socket.destroy()
        // A final frame that says close: 0x88.
        end({ answer, is_closed_properly: first[0] === 0x88 })
      }
      socket.on('error', () => {})
      socket.once('close', () => end({ answer, is_closed_properly: false }))
      setTimeout(() => socket.destroy(), PATIENCE_MS).unref()
      if (head.length > 0) finish(head)
      else socket.once('data', finish)
    })
    asked.end()
  })
}

const proxies = {
  nginx: `nginx:    location /ws/ {
            proxy_pass http://127.0.0.1:8000;
            proxy_http_version 1.1;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection "upgrade";
            proxy_set_header Host $host;
            proxy_read_timeout 120s;
          }`,
  haproxy: `haproxy:  defaults
            mode http
            timeout tunnel 1h
          and neither "option httpclose" nor a rule that removes the headers Upgrade and Connection`,
}
/** The settings of the proxy that answered, if it says which one it is. */
function proxySettings(server: string): string {
  const known = /nginx/i.test(server) ? [proxies.nginx] : /haproxy/i.test(server) ? [proxies.haproxy] : null
  return [
    'Something between here and the service does not let WebSockets through; boards fall back to asking every few seconds.',
    ...(known ?? [proxies.nginx, proxies.haproxy]),
  ].join('\n')
}

/** Whether an event comes through the socket, and how soon. */
export async function checkEvent(client: Client, word: string): Promise<Check> {
  try {
    const { id: board_id } = await loadBoard(client, word)
    await using board = await openBoard(client, board_id)
    if (!(await isLive(board))) {
      const remedy =
        'The socket opens, but says nothing: see that no proxy buffers it, and look at the log of the service.'
      return wrong('event', 'no greeting through the socket', remedy)
    }
    const events = board.events()
    const started = performance.now()
    const timer = setTimeout(() => void events.return(), PATIENCE_MS)
    const [seq] = await Promise.all([nextMove(events), nudge(client, board)])
    clearTimeout(timer)
    const took_ms = Math.round(performance.now() - started)
    if (seq !== undefined && took_ms <= EVENT_MS) return ok('event', `came through the socket after ${took_ms} ms`)
    const detail = seq === undefined ? `did not come within ${duration(PATIENCE_MS)}` : `came after ${took_ms} ms only`
    return wrong('event', detail, 'All instances must share one Redis (REDIS_URL), and no proxy may buffer the socket.')
  } catch (error) {
    return wrong('event', failureOf(error, client.base_url).message, 'Name a board of yours: lockstep boards')
  }
}

async function isLive(board: LiveBoard): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, PATIENCE_MS, false)
  const look = () => board.status.phase === 'live' && resolve(true)
  const leave = board.subscribe(look)
  look()
  const found = await promise
  clearTimeout(timer)
  leave()
  return found
}

/** The number of the next event of a kind that the nudge makes; undefined when there is none in time. */
async function nextMove(events: ReturnType<LiveBoard['events']>): Promise<number | undefined> {
  for await (const event of events) if (/^(column\.moved|label\.)/.test(event.type) && 'seq' in event) return event.seq
  return undefined
}

/** Makes an event that changes nothing: a column goes where it is. A board without columns gets a label for a moment. */
async function nudge(client: Client, { view }: LiveBoard): Promise<void> {
  const [first] = view?.columns ?? []
  if (first) {
    await client.moveColumn({ column_id: first.id, after_id: null })
  } else if (view) {
    const { id: label_id } = await client.createLabel({ board_id: view.id, name: 'lockstep doctor' })
    await client.deleteLabel({ label_id })
  }
}
