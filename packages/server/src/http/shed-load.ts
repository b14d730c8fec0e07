import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { operations } from '@lockstep/contract'
import type { Operation } from '@lockstep/contract/operation'
import type { FastifyBaseLogger } from 'fastify'
import { Problem } from '../platform/problem.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { rejectBeforeRouting } from './access-log.ts'
import type { Admission } from './admission.ts'
import { methodLabel } from './request-metrics.ts'

/** The first parts of the paths whose requests need a slot. Those of probes, documents and the web client do not. */
const withSlots = new Set(
  Object.values<Operation>(operations)
    .filter(({ access, body }) => access !== 'public' || body !== undefined)
    .map(({ path }) => path.split('/')[1]),
)
const needsSlot = ({ method, url = '' }: IncomingMessage) =>
  method !== 'OPTIONS' && withSlots.has(/^(?:\/api(?=\/))?\/([^/?]*)/.exec(url)?.[1])

/**
 * While the queue for slots is full, rejects requests before the framework handles them. At several times the load that the
 * service can handle there are thousands a second, and the framework would need half of the CPU time to reject them.
 */
export function shedLoad(
  server: Server,
  admission: Admission,
  log: FastifyBaseLogger,
  { meters }: Metrics,
  headersFor: (request: IncomingMessage) => Record<string, string>,
) {
  const problem = new Problem('overloaded')
  const { code, retryAfterSeconds } = problem
  const reject = rejectBeforeRouting(log, problem)
  const [handle] = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[]
  if (!handle) throw new Error('The framework listens for requests in another way')
  server.removeListener('request', handle)
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!admission.isFull || !needsSlot(request)) return handle(request, response)
    reject(request, response, { ...headersFor(request), 'retry-after': String(retryAfterSeconds) })
    meters.lockstep_http_requests_total.inc({ method: methodLabel(request.method), route: 'none', status: '503' })
    meters.lockstep_http_problems_total.inc({ code })
    meters.lockstep_http_shed_total.inc({ code })
  })
}
