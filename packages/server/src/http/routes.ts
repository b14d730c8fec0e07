import type { Operation } from '@lockstep/contract/operation'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { anyHandler, type Handlers } from './handler.ts'
import { handlePublic, handleRead } from './read-handler.ts'
import { bodyTimeout, leaveBodiesUnparsed } from './request-body.ts'
import { authorizeRequest } from './request-context.ts'
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
    const isPublic = operation.access === 'public'
    const timeout = bodyTimeout(deps.bodySeconds, isPublic ? deps.unauthenticatedBodies : undefined)
    app.route({ ...options, ...timeout, bodyLimit: route.bodyLimit })
  }
}

function hooksOf(route: Route) {
  const { operation, deps, isWrite } = route
  const bind = (handle: typeof handleRead) => (request: FastifyRequest, reply: FastifyReply) =>
    handle(route, request, reply)
  if (operation.access !== 'public')
    return {
      onRequest: [(request: FastifyRequest, reply: FastifyReply) => authorizeRequest(route, request, reply)],
      handler: bind(isWrite ? handleWrite : handleRead),
    }
  if (!operation.body) return { onRequest: [], handler: bind(handleRead) }
  // An address that sent too many invalid payloads is rejected before its body is read.
  const limitPayloads = (request: FastifyRequest) => deps.limits.badPayloads(request.ip).require()
  return { onRequest: [limitPayloads], handler: bind(handlePublic) }
}
