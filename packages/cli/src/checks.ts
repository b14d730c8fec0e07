import { randomBytes } from 'node:crypto'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { type Client, createClient, isLockstepError } from '@lockstep/client'
import { openBoard } from '@lockstep/client/live'
import { isLoginExposed, loginFile, readLogin } from './account.ts'
import { causeOf, failureOf } from './failure.ts'
import { loadBoard } from './find.ts'
import { duration, harmless } from './terminal.ts'

export interface Check {
  name: string
  state: 'ok' | 'wrong' | 'skipped'
  detail: string
  /** How to mend it; or what else to know. */
  remedy?: string
}
const ok = (name: string, detail: string): Check => ({ name, state: 'ok', detail })
const wrong = (name: string, detail: string, remedy: string): Check => ({ name, state: 'wrong', detail, remedy })

const PATIENCE_MS = 5_000
/** Tokens are told apart by whole seconds; so much clocks may differ before a login seems to end early. */
const CLOCK_MS = 5_000
const SLOW_MS = 500
const EVENT_MS = 1_000
const PROBES = 5
const once = { max_tries: 1, timeout_ms: PATIENCE_MS }

/** Whether something answers at the address, and whether it is Lockstep. */
export async function checkService(url: string): Promise<Check[]> {
  let response: Response
  try {
    response = await fetch(`${url}/openapi.json`, { signal: AbortSignal.timeout(PATIENCE_MS) })
  } catch (error) {
    return [unreachable(url, error)]
  }
  const reached = ok('address', `${url} answers`)
  const target = response.url.replace(/\/openapi\.json$/, '')
  const document = await response.json().catch(() => undefined)
  const { title, version } = (document as { info?: { title?: string; version?: string } } | undefined)?.info ?? {}
  if (title !== 'Lockstep') {
    const remedy = 'Check the address, its port and its path. A proxy must pass everything below it on to Lockstep.'
    return [reached, wrong('service', `this is not Lockstep: /openapi.json answers ${response.status}`, remedy)]
  }
  if (response.redirected && target !== url) {
    const remedy = `Use the other address: a redirect turns writes into reads.\nlockstep login --url ${target}`
    return [reached, wrong('service', `Lockstep, but behind a redirect to ${harmless(target)}`, remedy)]
  }
  return [reached, ok('service', `Lockstep ${harmless(version ?? '')}`)]
}

const remedies: [RegExp, string][] = [
  [/ENOTFOUND|EAI_AGAIN/, 'No machine has this name. Check its spelling, and the name server.'],
  [/ECONNREFUSED/, 'Nothing listens there. Start the service (npm start), and check PORT and HOST.'],
  [/CERT|SELF_SIGNED|LEAF_SIGNATURE/, 'The certificate is not trusted here. NODE_EXTRA_CA_CERTS names one to trust.'],
  [/SSL|EPROTO/, 'This port does not speak TLS. Try http:// in place of https://.'],
  [/Timeout/, 'Packets get lost on the way: look at firewalls and routes.'],
]
function unreachable(url: string, error: unknown): Check {
  const { name, cause } = error as { name: string; cause?: { code?: string; message?: string } }
  const word = cause?.code ?? cause?.message ?? name
  const remedy = remedies.find(([pattern]) => pattern.test(word))?.[1] ?? 'Check the address and the network.'
  return wrong('address', `${url} cannot be reached (${harmless(word)})`, remedy)
}

/** What the service says of its database and its Redis. */
export async function checkStores(url: string): Promise<Check[]> {
  const client = createClient({ base_url: url })
  try {
    const { redis } = await client.getHealth({}, once)
    const database = ok('database', 'connected')
    if (redis === 'connected') return [database, ok('redis', 'connected')]
    if (redis === 'disabled') return [database, ok('redis', 'not configured, which is fine for a single instance')]
    const remedy = `Nothing is lost meanwhile, but events are late, and who is online is what each instance knows.
Start Redis, and check REDIS_URL, its password and its firewall; the service comes back by itself.`
    return [database, wrong('redis', 'not connected', remedy)]
  } catch (error) {
    if (!isLockstepError(error)) throw error
    const remedy = `Start PostgreSQL, and check DATABASE_URL, the password, and whether connections are left (max_connections).
The service comes back by itself.`
    return [
      wrong('database', `not connected: ${failureOf(error, url).message}`, remedy),
      { name: 'redis', state: 'skipped', detail: 'not known while the database is away' },
    ]
  } finally {
    client.close()
  }
}

/** How far the clocks are apart, and how long an answer takes. */
export async function checkTime(url: string): Promise<Check[]> {
  const probes: { took_ms: number; ahead_ms: number }[] = []
  for (let i = 0; i < PROBES; i++) {
    try {
      probes.push(await probe(url))
    } catch (error) {
      if (!isLockstepError(error)) throw error
      return [
        wrong('round trip', `no answer${causeOf(error)}`, 'The service answers now and then only: look at its log.'),
      ]
    }
  }
  const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
  // The first one has to make the connection.
  const took_ms = Math.round(median(probes.slice(1).map((each) => each.took_ms)))
  const ahead_ms = median(probes.map((each) => each.ahead_ms))
  return [clock(ahead_ms), trip(took_ms)]
}

/** A question that needs no store: who am I, without a token. */
async function probe(url: string): Promise<{ took_ms: number; ahead_ms: number }> {
  let date = Number.NaN
  const client = createClient({
    base_url: url,
    fetch: async (...asked) => {
      const response = await fetch(...asked)
      date = Date.parse(response.headers.get('date') ?? '')
      return response
    },
  })
  const started_at = Date.now()
  const started = performance.now()
  try {
    await client.getMe({}, once)
  } catch (error) {
    if (!isLockstepError(error, 'not_authenticated')) throw error
  }
  const took_ms = performance.now() - started
  // The header leaves out the part of a second: half of one on average. It was written half way through.
  return { took_ms, ahead_ms: date + 500 - (started_at + took_ms / 2) }
}

function clock(ahead_ms: number): Check {
  if (Number.isNaN(ahead_ms)) {
    return { name: 'clock', state: 'skipped', detail: 'not known: the answers have no Date' }
  }
  const apart_ms = Math.abs(ahead_ms)
  // Less than that the header cannot tell.
  if (apart_ms < 1_000) return ok('clock', 'as here')
  const direction = ahead_ms > 0 ? 'ahead of' : 'behind'
  const detail = `the service is ${duration(apart_ms)} ${direction} this machine`
  if (apart_ms < CLOCK_MS) return ok('clock', detail)
  const remedy = `Logins seem to end too early or too late, and times of events are wrong. Set both clocks by the network:
timedatectl set-ntp true      and look at it with: timedatectl timesync-status`
  return wrong('clock', detail, remedy)
}

function trip(took_ms: number): Check {
  const detail = `${took_ms} ms`
  if (took_ms < SLOW_MS) return ok('round trip', detail)
  const remedy =
    'That is slow. Look at the load of the service (duration_ms in its log), then at the network: ping, mtr.'
  return wrong('round trip', detail, remedy)
}

/** Whether the token is accepted, and how long it will be. */
export async function checkLogin(client: Client): Promise<Check> {
  const { session, base_url } = client
  if (session.token === undefined) {
    return { name: 'login', state: 'skipped', detail: `nobody is logged in; lockstep login --url ${base_url}` }
  }
  try {
    const { username } = await client.getMe({}, once)
    const left_ms = (session.expires_at ?? Date.now()) - Date.now()
    if (readLogin()?.token === session.token && isLoginExposed()) {
      const remedy = `chmod 600 ${loginFile()}\nIf somebody may have read it, change your password: that ends all tokens.`
      return wrong('login', `as ${harmless(username)}, but others on this machine can read the token`, remedy)
    }
    return ok('login', `as ${harmless(username)}, for ${duration(left_ms)} more; renewed while it is used`)
  } catch (error) {
    const { message } = failureOf(error, base_url)
    const isRefused = isLockstepError(error, 'not_authenticated')
    const remedy = isRefused ? `lockstep login --url ${base_url}` : 'Try again when the rest is well.'
    return wrong('login', isRefused ? 'the token has ended, or was never one of this service' : message, remedy)
  }
}

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
    asked.on('close', () => end({}))
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

type Live = Awaited<ReturnType<typeof openBoard>>
async function isLive(board: Live): Promise<boolean> {
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
async function nextMove(events: ReturnType<Live['events']>): Promise<number | undefined> {
  for await (const event of events) if (/^(column\.moved|label\.)/.test(event.type) && 'seq' in event) return event.seq
  return undefined
}

/** Makes an event that changes nothing: a column goes where it is. A board without columns gets a label for a moment. */
async function nudge(client: Client, { view }: Live): Promise<void> {
  const [first] = view?.columns ?? []
  if (first) {
    await client.moveColumn({ column_id: first.id, after_id: null })
  } else if (view) {
    const { id: label_id } = await client.createLabel({ board_id: view.id, name: 'lockstep doctor' })
    await client.deleteLabel({ label_id })
  }
}
