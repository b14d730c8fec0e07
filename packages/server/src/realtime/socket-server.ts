import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { formats } from '@lockstep/contract/formats'
import { member } from '@lockstep/contract/operation'
import { MAX_MESSAGE_BYTES } from '@lockstep/contract/realtime'
import { v7 as newUuid } from 'uuid'
import { type WebSocket, WebSocketServer } from 'ws'
import { type BoardGrant, checkAccess } from '../core/authorize.ts'
import type { Database } from '../database/database.ts'
import { problemOfDatabase } from '../database/errors.ts'
import { endConnection } from '../http/error-handler.ts'
import { addressOf, networkOf } from '../platform/client-address.ts'
import { Problem } from '../platform/problem.ts'
import { Semaphore } from '../platform/semaphore.ts'
import type { RateLimits } from '../security/rate-limits.ts'
import type { Tokens } from '../security/tokens.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { BoardSocket, closedBy, closeSocket } from './board-socket.ts'
import type { Head } from './hub-environment.ts'
import type { SocketRegistry } from './socket-registry.ts'

const CHECK_WAIT_MS = 5_000
const MAX_FRAGMENTS = 1_024
/** Every access token may follow a board. */
const REQUIRED = { scope: 'read', board_tokens: true } as const

interface SocketServerSettings {
  maxSockets: number
  concurrentChecks: number
  trustedHops: number
}
interface SocketServerDeps {
  database: Database
  tokens: Tokens
  limits: RateLimits
  metrics: Metrics
  log: { error: (details: object, message: string) => void }
  isAllowedOrigin: (request: IncomingMessage) => boolean
  registry: SocketRegistry
  /** Called with each accepted socket. `since` is the last position the client has seen. */
  onAccepted: (ws: WebSocket, socket: BoardSocket, grant: BoardGrant, since: Head | undefined) => void
  onDrained: (socket: BoardSocket) => void
}

/** Accepts WebSocket handshakes, or rejects them with a close code. */
export class SocketServer {
  private readonly server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    // Every fragment of an unfinished message is an object: many small ones would take far more memory than their bytes.
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_FRAGMENTS,
    skipUTF8Validation: false,
    // BoardSocket replies to pings and counts them: pongs to a client that floods and does not read would accumulate.
    autoPong: false,
    // One message per event loop iteration: a flood in one packet would block the event loop until it is all read.
    allowSynchronousEvents: false,
  })
  private readonly deps: SocketServerDeps
  private readonly settings: SocketServerSettings
  /** In front of the access checks. Not the queue of requests: thousands of sockets that reconnect at once would fill it. */
  private readonly checks: Semaphore

  constructor(deps: SocketServerDeps, settings: SocketServerSettings) {
    this.deps = deps
    this.settings = settings
    this.checks = new Semaphore(settings.concurrentChecks, {
      maxWaiting: settings.maxSockets,
      waitMs: CHECK_WAIT_MS,
      reject: () => new Problem('overloaded'),
    })
    // Replaces the error response of the library.
    this.server.on('wsClientError', (_error, socket, { method }) => rejectHandshake(socket, method))
  }

  /** Handles an HTTP upgrade. The handshake is completed before a rejection: only then do browsers see the close code. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer) {
    // Undefined for a malformed URL.
    const url = URL.parse(request.url ?? '/', 'http://host')
    const board_id = /^(?:\/api)?\/ws\/boards\/([^/]+)\/?$/.exec(url?.pathname ?? '')?.[1]
    // Without a listener, a client that disconnects during the handshake would crash the process.
    socket.on('error', destroy)
    if (!url || board_id === undefined) return endConnection(socket, new Problem('not_found'))
    this.server.handleUpgrade(request, socket, head, (ws) => {
      this.onOpen(ws, request, board_id.toLowerCase(), url.searchParams)
    })
  }

  /** A method of its own: listeners created inside `upgrade` would keep the request in memory as long as the socket. */
  private onOpen(ws: WebSocket, request: IncomingMessage, board_id: string, query: URLSearchParams) {
    const { registry } = this.deps
    ws.on('error', ignore)
    this.countClose(ws)
    if (registry.isFull) return closeSocket(ws, 'try_later')
    if (registry.isDraining) return closeSocket(ws, 'restart')
    registry.track(ws)
    void this.accept(ws, request, board_id, query)
  }

  private countClose(ws: WebSocket) {
    const { meters } = this.deps.metrics
    ws.on('close', () => meters.lockstep_socket_closes_total.inc({ reason: closedBy(ws) }))
  }

  private async accept(ws: WebSocket, request: IncomingMessage, board_id: string, query: URLSearchParams) {
    const { registry, limits, onAccepted, onDrained } = this.deps
    let socket: BoardSocket | undefined
    ws.on('message', (data: Buffer) => socket?.onMessage(data))
    ws.on('ping', (data: Buffer) => socket?.onPing(data))
    ws.on('pong', () => socket?.onPong())
    // Before the token and the database, so that a flood of handshakes costs neither.
    const address = addressOf(request, this.settings.trustedHops)
    if (!registry.takeShare(ws, 'address', networkOf(address))) return closeSocket(ws, 'try_later')
    if (await limits.upgrade(address)) return closeSocket(ws, 'try_later')
    const grant = await this.authorize(ws, request, board_id, query.get('token') ?? '')
    if (!grant || ws.readyState !== ws.OPEN) return
    // It was being authorized while the others were closed.
    if (registry.isDraining) return closeSocket(ws, 'restart')
    const user_id = grant.caller.id
    const hasShares =
      registry.takeShare(ws, 'user', user_id) && registry.takeShare(ws, 'userAndBoard', `${user_id} ${grant.board_id}`)
    if (!hasShares) return closeSocket(ws, 'try_later')
    const wantsSeq = query.has('since') || query.get('seq') === '1'
    socket = new BoardSocket(ws, request.socket, newUuid(), grant, wantsSeq, onDrained)
    onAccepted(ws, socket, grant, parsePosition(query.get('since')))
  }

  /** Authorizes the client, or closes the connection with the code for the reason. */
  private async authorize(
    ws: WebSocket,
    request: IncomingMessage,
    board_id: string,
    token: string,
  ): Promise<BoardGrant | undefined> {
    const { database, tokens, log, isAllowedOrigin } = this.deps
    try {
      if (!isAllowedOrigin(request)) throw new Problem('foreign_origin')
      const credential = await tokens.verifyForSocket(token)
      if (!credential || !formats.uuid.test(board_id)) throw new Problem('not_authenticated')
      const { user_id } = credential
      const accessRequest = { credential, access: member('board'), targetId: board_id, key: null, required: REQUIRED }
      const check = () => checkAccess(database, accessRequest)
      return (await this.checks.run(check, { key: user_id })).authorize()
    } catch (error) {
      const isClientError = error instanceof Problem && error.status < 500
      if (!(error instanceof Problem) && !problemOfDatabase(error)) log.error({ err: error }, 'WebSocket accept failed')
      closeSocket(ws, isClientError ? 'refused' : 'try_later')
      return undefined
    }
  }
}

/** Parses `<epoch>.<seq>`. Anything else becomes a position that cannot exist, and causes a resync. */
function parsePosition(text: string | null): Head | undefined {
  if (text === null) return undefined
  const [, epoch, seq] = /^(\d{1,10})\.(\d{1,15})$/.exec(text) ?? []
  return { epoch: Number(epoch ?? -1), seq: Number(seq ?? -1) }
}

function ignore() {}
function destroy(this: Duplex) {
  this.destroy()
}

/** Rejects another method, or headers that are not a WebSocket handshake. */
function rejectHandshake(socket: Duplex, method: string | undefined) {
  if (method !== 'GET') return endConnection(socket, new Problem('method_not_allowed'), 'Allow: GET\r\n')
  const problem = new Problem('malformed_request', { detail: 'The request is not a valid WebSocket handshake.' })
  return endConnection(socket, problem, 'Sec-WebSocket-Version: 13\r\n')
}
