import Type, { type Static } from 'typebox'
import { named, operation } from './operation.ts'

const shape = Type.Object({
  status: Type.Enum(['ok', 'degraded', 'error']),
  database: Type.Enum(['connected', 'disconnected']),
  redis: Type.Enum(['connected', 'disconnected', 'disabled']),
  writes: Type.Optional(
    Type.Enum(['refused'], { description: 'Present while the database refuses changes because its disk is full.' }),
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

/** What is known when the service cannot work. */
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
    summary: 'Say whether the service can work',
    description: '200 while the database answers, also without Redis; else 503 with the same fields and a `detail`.',
    access: 'public',
    returns: { status: 200, schema: Health },
    unavailable_fields: failed,
    problems: ['unavailable'],
  }),
  getReadiness: operation({
    method: 'GET',
    path: '/ready',
    tag: 'health',
    summary: 'Say whether this instance takes requests',
    description:
      'For whatever sends requests to several instances. 200 while the database answers and the instance is not about to stop; else 503.',
    access: 'public',
    returns: { status: 200, schema: Readiness },
    problems: ['unavailable'],
  }),
  getLiveness: operation({
    method: 'GET',
    path: '/live',
    tag: 'health',
    summary: 'Say that this instance answers at all',
    description:
      'For whatever restarts an instance that hangs. It asks nobody else: a lost database is no reason to restart.',
    access: 'public',
    returns: { status: 200, schema: Liveness },
    problems: [],
  }),
}
