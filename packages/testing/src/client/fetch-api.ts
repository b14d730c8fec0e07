import { operations } from '@lockstep/contract'
import type { Operation } from '@lockstep/contract/operation'
import type { Api } from '../../../client/src/live/api.ts'

const TIMEOUT_MS = 5_000

/** A minimal HTTP client for live boards, derived from the contract. */
export const fetchApi = (baseUrl: string, token: string): Api => ({
  baseUrl,
  request: async (name, input, { idempotencyKey, ifMatch, signal }) => {
    const { method, path, query } = operations[name as keyof typeof operations] as Operation
    const rest = { ...input }
    const consume = (key: string) => {
      const value = String(rest[key])
      delete rest[key]
      return encodeURIComponent(value)
    }
    const address = path.replace(/\{(\w+)\}/g, (_, key: string) => consume(key))
    const queryKeys = Object.keys(query?.properties ?? {}).filter((key) => rest[key] !== undefined)
    const search = queryKeys.map((key) => `${key}=${consume(key)}`).join('&')
    const hasBody = method !== 'GET' && Object.keys(rest).length > 0
    const response = await fetch(`${baseUrl}${address}${search && `?${search}`}`, {
      method,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      headers: {
        authorization: `Bearer ${token}`,
        ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
        ...(ifMatch && { 'if-match': ifMatch }),
        ...(hasBody && { 'content-type': 'application/json' }),
      },
      ...(hasBody && { body: JSON.stringify(rest) }),
    })
    const text = await response.text()
    const data: unknown = text === '' ? undefined : JSON.parse(text)
    if (!response.ok) throw Object.assign(new Error(text), { status: response.status, ...(data as object) })
    const [position, etag] = ['board-position', 'etag'].map((name) => response.headers.get(name) ?? undefined)
    return { data, position, etag }
  },
})
