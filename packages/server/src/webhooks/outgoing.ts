import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { Agent, type ClientRequest, type ClientRequestArgs, type IncomingMessage, request } from 'node:http'
import { connect as connectTcp, isIP, isIPv4, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { isPublicAddress } from '../platform/networks.ts'
import { hostOf, literalAddresses, OutgoingRules, type OutgoingSettings, portOf } from './outgoing-rules.ts'
import { secondsOfRetryAfter } from './retry-after.ts'

export type { OutgoingSettings } from './outgoing-rules.ts'

const CONNECT_MS = 5_000
const CONNECT_MARGIN_MS = 100
const DNS_TRY_MS = 1_500
/** A name may have many addresses. This many are tried. */
const MAX_ADDRESSES = 6
/** Connections to one origin that are kept for its next requests. */
const IDLE_PER_ORIGIN = 16
/** How often a request is sent again because its connection had been closed. */
const MAX_STALE_SOCKETS = 2
const SOCKET_LIFETIME_MS = 60_000
const IDLE_MS = 30_000
/** Of all origins together. Beyond it, sockets are closed after use. */
const MAX_IDLE_SOCKETS = 256
const MAX_TARGETS = 1_000
const MAX_HEADER_BYTES = 16_384
const MAX_TEXT_BYTES = 1_024
const MAX_INFORMATIONAL_RESPONSES = 16

/**
 * Why an attempt had no response, for owners. `unreachable` is every failure to connect: an unknown name, a refused address and
 * a closed port look the same, so that nobody can explore the operator's network.
 */
export type AttemptError =
  | 'unreachable'
  | 'timeout'
  | 'connection_lost'
  | 'tls'
  | 'invalid_response'
  | 'secret_unreadable'

/** Either `status` or `error` is null. */
export interface AttemptResult {
  status: number | null
  error: AttemptError | null
  /** Seconds, from Retry-After (number or HTTP date); null without. */
  retryAfter: number | null
  /** 0 if unreachable, because the time could tell an unknown name from a refused address. */
  durationMs: number
  /** The first 1,024 bytes as text (invalid UTF-8 replaced, NUL removed); null unless the address is public. */
  responseText: string | null
  /** The precise reason for the operator's log, never shown to owners. It contains no part of the URL. */
  reason: string | null
}

/** Why a URL itself is refused (scheme, credentials, fragment, port, host, literal address), or undefined. Never resolves names. */
export const refusedUrl = (url: string, settings: OutgoingSettings): string | undefined =>
  new OutgoingRules(settings).refusalOf(url)

/**
 * Sends requests to addresses that users named. It is the only module that does, and it never connects to an address that is
 * neither public nor allowed by the operator.
 */
export class Outgoing {
  private readonly settings: OutgoingSettings
  private readonly rules: OutgoingRules
  private readonly resolver: Resolver
  private readonly plain: KeepAliveAgent
  private readonly tls: KeepAliveAgent
  private readonly targets = new Map<string, Target>()
  private readonly sockets = new Set<Socket>()
  private isClosed = false

  /** The resolver asks DNS servers itself: `dns.lookup` would let a few slow names occupy the threads that all lookups share. */
  constructor(settings: OutgoingSettings, resolver = new Resolver({ timeout: DNS_TRY_MS, tries: 2 })) {
    this.settings = settings
    this.rules = new OutgoingRules(settings)
    this.resolver = resolver
    this.plain = new KeepAliveAgent((...to) => this.connect(...to))
    this.tls = new KeepAliveAgent((...to) => this.connectTls(...to))
  }

  /** POSTs. Never throws, never follows redirects. */
  async send(url: string, headers: Record<string, string>, body: string | Buffer): Promise<AttemptResult> {
    const startedAt = performance.now()
    const deadline = startedAt + this.settings.timeoutMs
    try {
      const answer = await this.post(this.targetOf(url), headers, body, deadline)
      return { ...answer, error: null, reason: null, durationMs: Math.round(performance.now() - startedAt) }
    } catch (error) {
      const failure = describe(error)
      const durationMs = failure.error === 'unreachable' ? 0 : Math.round(performance.now() - startedAt)
      return { status: null, ...failure, retryAfter: null, durationMs, responseText: null }
    }
  }

  /** What a URL means, if it is allowed. Cached, because many requests go to the same ones. */
  private targetOf(url: string): Target {
    const known = this.targets.get(url)
    if (known) return known
    const refusal = this.rules.refusalOf(url)
    if (refusal !== undefined) throw new AttemptFailure('unreachable', refusal)
    const parsed = new URL(url)
    const agent = parsed.protocol === 'https:' ? this.tls : this.plain
    const target = {
      ...{ agent, host: hostOf(parsed), port: portOf(parsed), path: `${parsed.pathname}${parsed.search}` },
      hostHeader: parsed.host,
    }
    if (this.targets.size >= MAX_TARGETS) this.targets.clear()
    this.targets.set(url, target)
    return target
  }

  /** Closes all connections. Requests that are running fail. */
  close(): void {
    this.isClosed = true
    this.resolver.cancel()
    for (const socket of this.sockets) socket.destroy()
  }

  /**
   * A receiver may close an idle connection just when a request is sent on it. That is no failure of the receiver, so the request
   * is sent again. It may have been received: deliveries are at least once anyway. A process that was frozen can learn of the end
   * of its connection before its timer runs: after the deadline, another instance may already have sent later events.
   */
  private async post(target: Target, headers: Record<string, string>, body: string | Buffer, deadline: number) {
    for (let stale = 1; ; stale++) {
      try {
        return await readResponse(this.request(target, headers, body, deadline), deadline)
      } catch (error) {
        if (!(error instanceof StaleSocket) || stale > MAX_STALE_SOCKETS || performance.now() >= deadline) throw error
        // The others of this origin are probably closed too.
        target.agent.closeIdle(target)
      }
    }
  }

  private request(
    { agent, host, port, path, hostHeader }: Target,
    headers: Record<string, string>,
    body: string | Buffer,
    deadline: number,
  ): ClientRequest {
    const options: AttemptOptions = {
      ...{ method: 'POST', agent, host, port, path, deadline },
      headers: { ...headers, host: hostHeader, 'content-length': Buffer.byteLength(body) },
      maxHeaderSize: MAX_HEADER_BYTES,
    }
    const attempt = request(options)
    attempt.end(body)
    return attempt
  }

  private async connectTls(host: string, port: number, signal: AbortSignal): Promise<Socket> {
    const tcp = await this.connect(host, port, signal)
    const servername = isIP(host) === 0 ? host : ''
    const socket = connectTls({ socket: tcp, host, servername, minVersion: 'TLSv1.2', rejectUnauthorized: true })
    try {
      await once(socket, 'secureConnect', { signal })
    } catch (error) {
      socket.destroy()
      throw isAbort(error) ? error : new AttemptFailure('tls', codeOf(error))
    }
    return this.track(socket)
  }

  /** Connects to one of the addresses that were checked, so another answer of the DNS server changes nothing. */
  private async connect(host: string, port: number, signal: AbortSignal): Promise<Socket> {
    const addresses = await this.checkedAddresses(host, signal)
    if (this.isClosed) throw new AttemptFailure('unreachable', 'closed')
    const found = addresses.map((address) => ({ address, family: isIPv4(address) ? 4 : 6 }))
    const socket = this.track(
      connectTcp({
        host,
        port,
        noDelay: true,
        autoSelectFamily: true,
        lookup: (_name, _options, done) => done(null, found),
      }),
    )
    try {
      await once(socket, 'connect', { signal })
    } catch (error) {
      socket.destroy()
      throw new AttemptFailure('unreachable', codeOf(error))
    }
    const address = socket.remoteAddress ?? ''
    if (this.rules.isAllowedAddress(address)) return socket
    socket.destroy()
    throw refusedAddress(address)
  }

  /** A name with any address that is not allowed is refused. */
  private async checkedAddresses(host: string, signal: AbortSignal): Promise<string[]> {
    const addresses = literalAddresses(host) ?? (await this.resolve(host, signal))
    const refused = addresses.find((address) => !this.rules.isAllowedAddress(address))
    if (refused !== undefined) throw refusedAddress(refused)
    return addresses.slice(0, MAX_ADDRESSES)
  }

  private async resolve(name: string, signal: AbortSignal): Promise<string[]> {
    const queries = Promise.allSettled([this.resolver.resolve4(name), this.resolver.resolve6(name)])
    // A query cannot be aborted, but nobody waits for it any more.
    const answers = await Promise.race([queries, once(signal, 'abort').then(() => [])])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    const [reason] = answers.flatMap((answer) => (answer.status === 'rejected' ? codeOf(answer.reason) : []))
    throw new AttemptFailure('unreachable', reason ?? 'DNS timeout')
  }

  private track<S extends Socket>(socket: S): S {
    this.sockets.add(socket)
    socket.on('close', () => this.sockets.delete(socket))
    // Errors reach the request; an idle socket has none.
    socket.on('error', () => undefined)
    return socket
  }
}

class AttemptFailure extends Error {
  readonly word: AttemptError

  constructor(word: AttemptError, reason: string) {
    super(reason)
    this.word = word
  }
}
/** A reused connection ended before any byte of a response. */
class StaleSocket extends AttemptFailure {}

const refusedAddress = (address: string) => new AttemptFailure('unreachable', `refused address ${address}`)

function describe(error: unknown): { error: AttemptError; reason: string } {
  if (error instanceof AttemptFailure) return { error: error.word, reason: error.message }
  const reason = codeOf(error)
  if (isAbort(error)) return { error: 'timeout', reason }
  if (reason.startsWith('HPE_')) return { error: 'invalid_response', reason }
  return { error: reason.startsWith('ERR_SSL_') ? 'tls' : 'connection_lost', reason }
}

/** Codes only, because messages can contain host names. */
const codeOf = (error: unknown) =>
  isAbort(error) ? 'timeout' : ((error as { code?: string } | undefined)?.code ?? 'unknown error')
const isAbort = (error: unknown) => error instanceof Error && error.name === 'AbortError'

/** Aborts work that takes longer. */
async function withLimit<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), Math.max(0, ms))
  try {
    return await work(limit.signal)
  } finally {
    clearTimeout(timer)
  }
}

/** The start of the response. What follows 1,024 bytes is not read. */
function readResponse(attempt: ClientRequest, deadline: number) {
  const { promise, resolve, reject } =
    Promise.withResolvers<Pick<AttemptResult, 'status' | 'retryAfter' | 'responseText'>>()
  let response: IncomingMessage | undefined
  let isPublic = false
  let failure: unknown
  let bytesBefore = 0
  let informational = 0
  const chunks: Buffer[] = []
  let size = 0

  const timer = setTimeout(
    () => attempt.destroy(new AttemptFailure('timeout', 'timeout')),
    deadline - performance.now(),
  )

  const take = (received: IncomingMessage) => {
    response = received
    isPublic = isPublicPeer(received.socket)
  }
  attempt.on('socket', (socket) => {
    bytesBefore = socket.bytesRead
  })
  attempt.on('information', () => {
    if (++informational > MAX_INFORMATIONAL_RESPONSES)
      attempt.destroy(new AttemptFailure('invalid_response', 'too many informational responses'))
  })
  attempt.on('upgrade', (received, socket) => {
    take(received)
    socket.destroy()
  })
  attempt.on('response', (received) => {
    take(received)
    // A response that breaks off has its status, which is what counts.
    received.on('error', () => undefined)
    received.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size > MAX_TEXT_BYTES) received.destroy()
    })
  })
  attempt.on('error', (error) => {
    failure = error
  })
  // After this event the socket is idle again, or gone.
  attempt.on('close', () => {
    clearTimeout(timer)
    if (response) {
      resolve({
        status: response.statusCode ?? null,
        retryAfter: secondsOfRetryAfter(response.headers['retry-after'], Date.now()),
        responseText: isPublic ? textOf(chunks) : null,
      })
    } else if (
      attempt.reusedSocket &&
      !(failure instanceof AttemptFailure || isAbort(failure)) &&
      attempt.socket?.bytesRead === bytesBefore
    ) {
      reject(new StaleSocket('connection_lost', codeOf(failure)))
    } else {
      reject(failure)
    }
  })
  return promise
}

const publicPeers = new WeakMap<Socket, boolean>()

/** Whether the other end has a public address. Stored, because connections are used many times. */
function isPublicPeer(socket: Socket): boolean {
  const isPublic = publicPeers.get(socket) ?? isPublicAddress(socket.remoteAddress ?? '')
  publicPeers.set(socket, isPublic)
  return isPublic
}

function textOf(chunks: Buffer[]): string {
  // As a stream, so that a character that is cut at the end is left out.
  return new TextDecoder()
    .decode(Buffer.concat(chunks).subarray(0, MAX_TEXT_BYTES), { stream: true })
    .replaceAll('\0', '')
}

interface AttemptOptions extends ClientRequestArgs {
  /** When the attempt ends, by the monotonic clock. */
  deadline: number
}
/** A URL that is allowed. */
interface Target {
  agent: KeepAliveAgent
  host: string
  port: number
  path: string
  hostHeader: string
}
type Connect = (host: string, port: number, signal: AbortSignal) => Promise<Socket>

/** Keeps connections for the next request, each for a minute at most. */
class KeepAliveAgent extends Agent {
  private readonly connect: Connect
  private readonly connectedAt = new WeakMap<Duplex, number>()
  private readonly idle = new Set<Duplex>()

  constructor(connect: Connect) {
    super({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: IDLE_PER_ORIGIN })
    this.connect = connect
  }

  override createConnection(options: AttemptOptions, done: (error: Error | null, socket: Duplex) => void): undefined {
    // The agent ignores the socket after an error.
    const failed = (error: Error) => done(error, undefined as unknown as Duplex)
    const connected = (socket: Socket) => {
      // The timer may not have run yet, see `post`.
      if (performance.now() >= options.deadline) {
        socket.destroy()
        return failed(new AttemptFailure('timeout', 'timeout'))
      }
      this.connectedAt.set(socket, performance.now())
      socket.on('close', () => this.idle.delete(socket))
      done(null, socket)
    }
    const connect = (signal: AbortSignal) => this.connect(String(options.host), Number(options.port), signal)
    // A little later than the attempt, so that the attempt ends with a timeout.
    const remainingMs = options.deadline - performance.now() + CONNECT_MARGIN_MS
    withLimit(Math.min(CONNECT_MS, remainingMs), connect).then(connected, failed)
  }

  override keepSocketAlive(socket: Duplex): boolean {
    const age = performance.now() - (this.connectedAt.get(socket) ?? 0)
    if (age + IDLE_MS > SOCKET_LIFETIME_MS || this.idle.size >= MAX_IDLE_SOCKETS) return false
    this.idle.add(socket)
    // Its declared type is void, but the agent destroys the socket if it is false.
    return super.keepSocketAlive(socket) as unknown as boolean
  }

  closeIdle(origin: { host: string; port: number }) {
    for (const socket of this.freeSockets[this.getName(origin)] ?? []) socket.destroy()
  }

  override reuseSocket(socket: Duplex, attempt: ClientRequest): void {
    this.idle.delete(socket)
    super.reuseSocket(socket, attempt)
  }
}
