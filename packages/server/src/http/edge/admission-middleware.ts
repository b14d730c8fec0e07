import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { addressOf, networkOf } from '../../platform/client-address.ts'
import type { FairShare } from '../../platform/fair-share.ts'
import { JSON_TYPE } from '../../platform/json.ts'
import { Problem } from '../../platform/problem.ts'
import { waitWithout } from '../../platform/slot.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import { isProbeUrl } from '../probes.ts'
import { type Method, methodLabel } from '../request-metrics.ts'
import { AdmissionController, openRequestShares, type Slot } from './admission-controller.ts'
import { serializeRequests } from './pipelining.ts'
import { isUpgradeWithBody } from './unread-body.ts'

const TICK_MS = 10
const LOG_MS = 1_000

interface AdmissionDeps {
  slots: number
  metrics: Metrics
  log: FastifyBaseLogger
  /** CORS headers of the response. */
  crossOriginHeaders: (request: IncomingMessage) => Record<string, string>
  isClosing: () => boolean
  /** Whether one address may hold no more than its share while others wait. */
  isFair: boolean
  trustedHops: number
}
/** A property of the request, because a WeakMap costs time in every garbage collection. */
const SLOT = Symbol('slot')
type RequestWithSlot = IncomingMessage & { [SLOT]?: Slot }

/** The concurrency slot of a request. Requests that are never shed have none. */
export const slotOf = ({ raw }: FastifyRequest): Slot | undefined => (raw as RequestWithSlot)[SLOT]

/** Releases the slot of a request while it waits. */
export const releaseSlotWhile = <T>(request: FastifyRequest, wait: () => Promise<T>): Promise<T> =>
  waitWithout(slotOf(request), wait)

/**
 * Load shedding in front of the framework: a rejected request is neither routed nor logged one by one, so it costs as little
 * as a response can. Node reads and drops the rest of its body, so that the connection can be reused.
 */
export class AdmissionMiddleware {
  private readonly deps: AdmissionDeps
  private readonly controller: AdmissionController
  private readonly shares: FairShare | undefined
  /** As text, so that Node writes headers and body at once. */
  private readonly body: string
  private readonly headers: Record<string, string>
  private readonly shedByMethod = new Map<Method, number>()
  private shedSinceLog = 0
  private readonly timers: NodeJS.Timeout[]

  constructor(deps: AdmissionDeps) {
    this.deps = deps
    const { metrics, slots } = deps
    const { meters } = metrics
    this.controller = new AdmissionController({
      slots,
      now: () => performance.now(),
      ...(metrics.isOn && { onWait: (seconds: number) => meters.lockstep_http_wait_seconds.observe({}, seconds) }),
    })
    this.shares = deps.isFair ? openRequestShares(slots) : undefined
    const problem = new Problem('overloaded')
    this.body = problem.text()
    this.headers = {
      'content-type': JSON_TYPE,
      'content-length': String(Buffer.byteLength(this.body)),
      'retry-after': String(problem.retryAfterSeconds),
      'cache-control': 'no-store',
    }
    this.timers = [setInterval(() => this.controller.tick(), TICK_MS), setInterval(() => this.logShed(), LOG_MS)]
    metrics.onScrape(() => this.count())
  }

  /** Wraps the framework's request listener. */
  install(app: FastifyInstance) {
    const { server } = app
    const [handle] = server.listeners('request') as RequestListener[]
    if (handle) server.off('request', handle).on('request', this.wrap(handle))
    // A response that is being sent needs no more work: a slow reader holds no slot.
    app.addHook('onSend', (request, _reply, _payload, done) => {
      slotOf(request)?.release()
      done()
    })
    app.addHook('onClose', async () => {
      for (const timer of this.timers) clearInterval(timer)
    })
  }

  private wrap(handle: RequestListener): RequestListener {
    return serializeRequests((request, response) => {
      if (isUpgradeWithBody(request)) response.shouldKeepAlive = false
      // Health checks and metrics must work under overload.
      if (isProbeUrl(request.url ?? '')) return handle(request, response)
      const key = this.deps.isFair ? networkOf(addressOf(request, this.deps.trustedHops)) : ''
      const releaseShare = this.shares?.claim(key)
      if (this.shares && !releaseShare) return this.shed(request, response)
      let slot: Slot | undefined
      const abort = this.controller.request(
        (acquired) => {
          slot = acquired
          ;(request as RequestWithSlot)[SLOT] = acquired
          handle(request, response)
        },
        () => this.shed(request, response),
        key,
      )
      if (!abort) return releaseShare?.()
      response.once('close', () => {
        abort()
        slot?.close()
        releaseShare?.()
      })
    })
  }

  private shed(request: IncomingMessage, response: ServerResponse) {
    const method = methodLabel(request.method)
    this.shedByMethod.set(method, (this.shedByMethod.get(method) ?? 0) + 1)
    this.shedSinceLog++
    const headers = { ...this.headers, 'x-request-id': randomUUID(), ...this.deps.crossOriginHeaders(request) }
    if (this.deps.isClosing()) response.setHeader('connection', 'close')
    response.writeHead(503, headers).end(this.body, 'latin1')
  }

  /** One log line a second, not one per request: a flood must not fill the log. */
  private logShed() {
    if (this.shedSinceLog === 0) return
    this.deps.log.warn({ requests: this.shedSinceLog }, 'requests were rejected with 503: the service is overloaded')
    this.shedSinceLog = 0
  }

  /** Rejections are counted in plain numbers until a scrape, because they must cost next to nothing. */
  private count() {
    const { meters } = this.deps.metrics
    meters.lockstep_http_requests_waiting.set({}, this.controller.waiting)
    for (const [method, count] of this.shedByMethod) {
      meters.lockstep_http_requests_total.inc({ method, route: 'none', status: '503' }, count)
      meters.lockstep_http_shed_total.inc({ code: 'overloaded' }, count)
      meters.lockstep_http_problems_total.inc({ code: 'overloaded' }, count)
    }
    this.shedByMethod.clear()
  }
}
