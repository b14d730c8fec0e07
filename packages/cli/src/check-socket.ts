import { randomBytes } from 'node:crypto'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Client } from '@lockstep/client'
import { type LiveBoard, openBoard } from '@lockstep/client/live'
import { type Check, ok, TIMEOUT_MS, wrong } from './check.ts'
import { failureOf } from './failure.ts'
import { loadBoard } from './find.ts'
import { duration, escapeControlChars } from './terminal.ts'
import { hasWebSocket } from './watch.ts'

const EVENT_MS = 1_000

/**
 * Checks that WebSockets work. The service accepts every upgrade and then closes unauthorized connections, so a
 * rejected upgrade comes from a proxy.
 */
export async function checkUpgrade(url: string): Promise<Check> {
  const { response, isClosedProperly } = await upgrade(`${url}/ws/boards/none?token=none`)
  if (response === undefined) return wrong('websocket', 'the connection was closed', proxySettings(''))
  const server = [response.headers['server'], response.headers['via']].filter(Boolean).join(', ')
  if (response.statusCode !== 101) {
    const by = server ? ` by ${escapeControlChars(server)}` : ''
    return wrong('websocket', `the upgrade returned ${response.statusCode}${by} instead of 101`, proxySettings(server))
  }
  if (isClosedProperly) return ok('websocket', 'works')
  return wrong('websocket', 'the upgrade works, but no message arrives', proxySettings(server))
}

function upgrade(url: string): Promise<{ response?: IncomingMessage; isClosedProperly?: boolean }> {
  const send = url.startsWith('https:') ? requestHttps : requestHttp
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
  }
  return new Promise((resolve) => {
    const request = send(url, { headers, agent: false })
    const timer = setTimeout(() => request.destroy(), TIMEOUT_MS)
    const end = (result: { response?: IncomingMessage; isClosedProperly?: boolean }) => {
      clearTimeout(timer)
      request.destroy()
      resolve(result)
    }
    request.on('error', () => end({}))
    request.on('response', (response) => {
      response.resume()
      end({ response })
    })
    request.on('upgrade', (response, socket, head) => {
      const finish = (first: Buffer) => {
        socket.destroy()
        // 0x88: a final frame with the close opcode.
        end({ response, isClosedProperly: first[0] === 0x88 })
      }
      socket.on('error', () => {})
      socket.once('close', () => end({ response, isClosedProperly: false }))
      setTimeout(() => socket.destroy(), TIMEOUT_MS).unref()
      if (head.length > 0) finish(head)
      else socket.once('data', finish)
    })
    request.end()
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
          without "option httpclose" and without rules that remove the Upgrade and Connection headers`,
}
/** Settings for the proxy that responded, if it names itself. */
function proxySettings(server: string): string {
  const known = /nginx/i.test(server) ? [proxies.nginx] : /haproxy/i.test(server) ? [proxies.haproxy] : null
  return [
    'A proxy blocks WebSockets, so boards fall back to polling. Required proxy settings:',
    ...(known ?? [proxies.nginx, proxies.haproxy]),
  ].join('\n')
}

/** Checks that an event arrives by WebSocket, and how fast. */
export async function checkEvent(client: Client, word: string): Promise<Check> {
  if (!hasWebSocket) return wrong('event', 'this Node.js has no WebSocket', 'Run lockstep with Node.js 22 or newer.')
  try {
    const { id: board_id } = await loadBoard(client, word)
    await using board = await openBoard(client, board_id)
    if (!(await isLive(board))) {
      const remedy =
        'The WebSocket opens but stays silent: make sure no proxy buffers it, and check the log of the service.'
      return wrong('event', 'no hello message on the WebSocket', remedy)
    }
    const events = board.events()
    const started = performance.now()
    const timer = setTimeout(() => void events.return(), TIMEOUT_MS)
    const [seq] = await Promise.all([nextMove(events), emitTestEvent(client, board)])
    clearTimeout(timer)
    const tookMs = Math.round(performance.now() - started)
    if (seq !== undefined && tookMs <= EVENT_MS) return ok('event', `arrived after ${tookMs} ms`)
    const detail =
      seq === undefined ? `did not arrive within ${duration(TIMEOUT_MS)}` : `arrived only after ${tookMs} ms`
    return wrong('event', detail, 'All instances must share one Redis (REDIS_URL), and no proxy may buffer WebSockets.')
  } catch (error) {
    return wrong('event', failureOf(error, client.baseUrl).message, 'Choose one of your boards: lockstep boards')
  }
}

async function isLive(board: LiveBoard): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, TIMEOUT_MS, false)
  const checkPhase = () => board.status.phase === 'live' && resolve(true)
  const unsubscribe = board.subscribe(checkPhase)
  checkPhase()
  const found = await promise
  clearTimeout(timer)
  unsubscribe()
  return found
}

/** The sequence number of the next test event; undefined if none arrives in time. */
async function nextMove(events: ReturnType<LiveBoard['events']>): Promise<number | undefined> {
  for await (const event of events) if (/^(column\.moved|label\.)/.test(event.type) && 'seq' in event) return event.seq
  return undefined
}

/**
 * Emits an event without a visible change: moves the first column to its position. A board without columns gets a
 * temporary label.
 */
async function emitTestEvent(client: Client, { view }: LiveBoard): Promise<void> {
  const [first] = view?.columns ?? []
  if (first) {
    await client.moveColumn({ column_id: first.id, after_id: null })
  } else if (view) {
    const { id: label_id } = await client.createLabel({ board_id: view.id, name: 'lockstep doctor' })
    await client.deleteLabel({ label_id })
  }
}
