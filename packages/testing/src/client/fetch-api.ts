import { operations } from '@lockstep/contract'
import type { Operation } from '@lockstep/contract/operation'
import type { Api } from '../../../client/src/live/api.ts'

const TIMEOUT_MS = 5_000

/** As little of an HTTP client as a live board needs, straight from the contract. */
export const fetchApi = (base_url: string, token: string): Api => ({
  base_url,
  request: async (name, input, { idempotency_key, if_match, signal }) => {
    const { method, path, query } = operations[name as keyof typeof operations] as Operation
    const rest = { ...input }
    const take = (key: string) => {
      const value = String(rest[key])
      delete rest[key]
      return encodeURIComponent(value)
    }
    const address = path.replace(/\{(\w+)\}/g, (_, key: string) => take(key))
    const asked = Object.keys(query?.properties ?? {}).filter((key) => rest[key] !== undefined)
    const search = asked.map((key) => `${key}=${take(key)}`).join('&')
    const hasBody = method !== 'GET' && Object.keys(rest).length > 0
    const response = await fetch(`${base_url}${address}${search && `?${search}`}`, {
      method,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      headers: {
        authorization: `Bearer ${token}`,
        ...(idempotency_key && { 'idempotency-key': idempotency_key }),
        ...(if_match && { 'if-match': if_match }),
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
