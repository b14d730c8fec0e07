import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { Admission, openRequestShares, type Place } from './admission-controller.ts'
import { addressOf, networkOf } from '../../platform/client-address.ts'
import type { FairShare } from '../../platform/fair-share.ts'
import { JSON_TYPE } from '../json-response.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import { oneAtATime } from './pipelining.ts'
import { Problem } from '../../platform/problem.ts'
import { type Method, methodLabel } from '../request-metrics.ts'
import { isOfferWithBody } from './unread-body.ts'

const TICK_MS = 10
const TOLD_MS = 1_000
/** Whoever looks after the service must be answered when it has too much to do. */
const isNeverShed = /^(?:\/api)?\/(?:health|ready|live|metrics)\/?(?:\?|$)/

interface AdmissionDeps {
  places: number
  metrics: Metrics
  log: FastifyBaseLogger
  /** What lets a page of another site read the answer. */
  crossOriginHeaders: (request: IncomingMessage) => Record<string, string>
  isLeaving: () => boolean
  /** Whether one address may hold no more than its share while others wait. */
  is_fair: boolean
  trusted_hops: number
}
/** On the request itself: a map with weak keys is work for the collector of garbage, at each of its rounds. */
const PLACE = Symbol('place')
type Placed = IncomingMessage & { [PLACE]?: Place }

/** The place of a request. One that is never sent away has none. */
export const placeOf = ({ raw }: FastifyRequest): Place | undefined => (raw as Placed)[PLACE]

/** Does something during which the request needs no place, for it waits for something of its own. */
export const aside = <T>(request: FastifyRequest, wait: () => Promise<T>): Promise<T> =>
  placeOf(request)?.aside(wait) ?? wait()

/**
 * Stands before everything else: a request that is sent away was neither routed nor looked at, and costs as little as an
 * answer can cost. What is left of its body is read by Node and thrown away, so that its connection can be used again.
 */
export class Doorkeeper {
  private readonly deps: AdmissionDeps
  private readonly admission: Admission
  private readonly shares: FairShare | undefined
  /** As text: then head and body are written in one go. */
  private readonly body: string
  private readonly head: Record<string, string>
  private readonly shed = new Map<Method, number>()
  private untold = 0
  private readonly timers: NodeJS.Timeout[]

  constructor(deps: AdmissionDeps) {
    this.deps = deps
    const { metrics, places: at_once } = deps
    const { meters } = metrics
    this.admission = new Admission({
      places: at_once,
      now: () => performance.now(),
      ...(metrics.isOn && { waited: (seconds: number) => meters.lockstep_http_wait_seconds.observe({}, seconds) }),
    })
    this.shares = deps.is_fair ? openRequestShares(at_once) : undefined
    const problem = new Problem('overloaded')
    this.body = problem.text()
    this.head = {
      'content-type': JSON_TYPE,
      'content-length': String(Buffer.byteLength(this.body)),
      'retry-after': String(problem.retry_after_seconds),
      'cache-control': 'no-store',
    }
    this.timers = [setInterval(() => this.admission.tick(), TICK_MS), setInterval(() => this.tell(), TOLD_MS)]
    metrics.look(() => this.count())
  }

  /** Takes the place of the framework's own listener, and hands on to it whom it lets in. */
  stand(app: FastifyInstance) {
    const { server } = app
    const [handle] = server.listeners('request') as RequestListener[]
    if (handle) server.off('request', handle).on('request', this.guard(handle))
    // An answer that is on its way needs no more work: a slow reader holds no place.
    app.addHook('onSend', (request, _reply, _payload, done) => {
      placeOf(request)?.stepAside()
      done()
    })
    app.addHook('onClose', async () => {
      for (const timer of this.timers) clearInterval(timer)
    })
  }

  private guard(handle: RequestListener): RequestListener {
    return oneAtATime((request, response) => {
      if (isOfferWithBody(request)) response.shouldKeepAlive = false
      if (isNeverShed.test(request.url ?? '')) return handle(request, response)
      const key = this.deps.is_fair ? networkOf(addressOf(request, this.deps.trusted_hops)) : ''
      const release = this.shares?.claim(key)
      if (this.shares && !release) return this.sendAway(request, response)
      let place: Place | undefined
      const leaveLine = this.admission.enter(
        (given) => {
          place = given
          ;(request as Placed)[PLACE] = given
          handle(request, response)
        },
        () => this.sendAway(request, response),
        key,
      )
      if (!leaveLine) return release?.()
      response.once('close', () => {
        leaveLine()
        place?.leave()
        release?.()
      })
    })
  }

  private sendAway(request: IncomingMessage, response: ServerResponse) {
    const method = methodLabel(request.method)
    this.shed.set(method, (this.shed.get(method) ?? 0) + 1)
    this.untold++
    const head = { ...this.head, 'x-request-id': randomUUID(), ...this.deps.crossOriginHeaders(request) }
    if (this.deps.isLeaving()) response.setHeader('connection', 'close')
    response.writeHead(503, head).end(this.body, 'latin1')
  }

  /** One line a second, and not one for each: a flood must not fill the log too. */
  private tell() {
    if (this.untold === 0) return
    this.deps.log.warn({ requests: this.untold }, 'requests were sent away: there is more to do than can be done')
    this.untold = 0
  }

  /** Until somebody asks they are counted in plain numbers: what is sent away must cost nothing. */
  private count() {
    const { meters } = this.deps.metrics
    meters.lockstep_http_requests_waiting.set({}, this.admission.waiting)
    for (const [method, count] of this.shed) {
      meters.lockstep_http_requests_total.inc({ method, route: 'none', status: '503' }, count)
      meters.lockstep_http_shed_total.inc({ code: 'overloaded' }, count)
      meters.lockstep_http_problems_total.inc({ code: 'overloaded' }, count)
    }
    this.shed.clear()
  }
}
