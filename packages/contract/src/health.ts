import Type, { type Static } from 'typebox'
import { named, operation } from './operation.ts'

const shape = Type.Object({
  status: Type.Enum(['ok', 'degraded', 'error']),
  database: Type.Enum(['connected', 'disconnected']),
  redis: Type.Enum(['connected', 'disconnected', 'disabled']),
})
export interface Health extends Static<typeof shape> {}
export const Health = named<Health>('Health', shape)

export const healthOperations = {
  getHealth: operation({
    method: 'GET',
    path: '/health',
    tag: 'health',
    summary: 'Say whether the service can work',
    description: '200 while the database answers, also without Redis; else 503 with the same fields and a `detail`.',
    access: 'public',
    returns: { status: 200, schema: Health },
    problems: ['unavailable'],
  }),
}
