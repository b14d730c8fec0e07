import Type, { type Static } from 'typebox'
import { named, operation } from './operation.ts'

const shape = Type.Object({
  status: Type.Enum(['ok', 'degraded', 'error']),
  database: Type.Enum(['connected', 'disconnected']),
  redis: Type.Enum(['connected', 'disconnected', 'disabled']),
  writes: Type.Optional(
    Type.Enum(['refused'], { description: 'Present while the database rejects changes because its disk is full.' }),
  ),
  planner: Type.Optional(
    Type.Enum(['slow'], {
      description:
        'Present while the database does not use the planner settings that the service sends, so that some requests are slow.',
    }),
  ),
})
export interface Health extends Static<typeof shape> {}
export const Health = named<Health>('Health', shape)

const readiness = Type.Object({ status: Type.Enum(['ready']) })
export interface Readiness extends Static<typeof readiness> {}
export const Readiness = named<Readiness>('Readiness', readiness)

const liveness = Type.Object({ status: Type.Enum(['alive']) })
export interface Liveness extends Static<typeof liveness> {}
export const Liveness = named<Liveness>('Liveness', liveness)

/** The fields of a 503. */
const failed = Type.Object({
  status: Type.Enum(['error']),
  database: Type.Enum(['disconnected']),
  redis: shape.properties.redis,
})

export const healthOperations = {
  getHealth: operation({
    method: 'GET',
    path: '/health',
    tag: 'health',
    summary: 'Check the health of the service',
    description:
      '200 while the database is reachable, also without Redis; otherwise 503 with the same fields and a `detail`.',
    access: 'public',
    returns: { status: 200, schema: Health },
    unavailable_fields: failed,
    problems: ['unavailable'],
  }),
  getReadiness: operation({
    method: 'GET',
    path: '/ready',
    tag: 'health',
    summary: 'Check whether this instance accepts requests',
    description:
      'Readiness probe for load balancers. 200 while the database is reachable and the instance is not shutting down; otherwise 503.',
    access: 'public',
    returns: { status: 200, schema: Readiness },
    problems: ['unavailable'],
  }),
  getLiveness: operation({
    method: 'GET',
    path: '/live',
    tag: 'health',
    summary: 'Check whether this instance responds',
    description:
      'Liveness probe, to restart an instance that hangs. It does not depend on the database, whose loss is not fixed by a restart.',
    access: 'public',
    returns: { status: 200, schema: Liveness },
    problems: [],
  }),
}
