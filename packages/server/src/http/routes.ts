import type { Operation } from '@lockstep/contract/operation'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { networkOf } from '../platform/client-address.ts'
import { slotOf } from './admission.ts'
import { anyHandler, type Handlers } from './handler.ts'
import { handlePublic, handleRead } from './read-handler.ts'
import { bodyTimeout, leaveBodiesUnparsed } from './request-body.ts'
import { authorizeRequest, contextOf } from './request-context.ts'
import { compileRoute, type Route, type RouteDeps } from './route.ts'
import { handleWrite } from './write-handler.ts'

/**
 * Registers a route for each operation of the contract. A request is authenticated and authorized before its body is read
 * (`authorizeRequest`); then its input is validated, and only then the handler runs.
 */
export function registerRoutes<Ops extends Record<string, Operation>>(
  app: FastifyInstance,
  deps: RouteDeps,
  operations: Ops,
  handlers: Handlers<Ops>,
  isOffered: (operation: Operation) => boolean = () => true,
) {
  const charge = (request: FastifyRequest, bytes: number) =>
    deps.budget.charge(contextOf(request)?.accessRequest.credential.user_id ?? networkOf(request.ip), bytes)
  for (const [name, operation] of Object.entries(operations).filter(([, each]) => isOffered(each))) {
    const route = compileRoute(deps, operation, anyHandler(handlers[name]))
    const options = { method: operation.method, url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'), ...hooksOf(route) }
    if (route.isUpload) {
      app.register(async (scope) => {
        leaveBodiesUnparsed(scope)
        scope.route(options)
      })
      continue
    }
    app.route({ ...options, ...bodyTimeout(deps.clock, charge), bodyLimit: route.bodyLimit })
  }
}

function hooksOf(route: Route) {
  const { operation, deps, isWrite } = route
  const bind = (handle: typeof handleRead) => (request: FastifyRequest, reply: FastifyReply) => {
    const work = () => handle(route, request, reply)
    return slotOf(request)?.run(work) ?? work()
  }
  if (operation.access !== 'public')
    return {
      onRequest: [(request: FastifyRequest, reply: FastifyReply) => authorizeRequest(route, request, reply)],
      handler: bind(isWrite ? handleWrite : handleRead),
    }
  if (!operation.body) return { onRequest: [], handler: bind(handleRead) }
  // An address that sent too many invalid payloads is rejected before its body is read.
  const admit = async (request: FastifyRequest, reply: FastifyReply) => {
    await deps.limits.badPayloads(request.ip).require()
    await deps.admission.enter(request, reply, networkOf(request.ip), { isUser: false })
  }
  return { onRequest: [admit], handler: bind(handlePublic) }
}
