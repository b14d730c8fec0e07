import { type ErrorDetails, LockstepError } from './errors.ts'
import type { OperationRow } from './options.ts'
import { parseJson } from './parse-json.ts'

/** Status and headers of a response. */
interface ResponseHead {
  status: number
  /** The `Board-Position` header: the version of the board, `<epoch>.<seq>`. */
  position: string | undefined
  etag: string | undefined
  /** Whether this is the stored response of an earlier write with the same idempotency key. */
  isReplay: boolean
  requestId: string | undefined
  /** Query parameters of the next page. */
  next: Record<string, string> | undefined
}
export interface ApiResponse<T> extends ResponseHead {
  isModified: true
  data: T
}
/** Nothing has changed since the version named by `ifNoneMatch`. */
export interface NotModified extends ResponseHead {
  isModified: false
  data: undefined
}

/** Reads a response. Throws a LockstepError unless it is a success. */
export async function readResponse(
  { isFile }: OperationRow,
  response: Response,
): Promise<ApiResponse<unknown> | NotModified> {
  const { status, ok } = response
  const head = headOf(response)
  if (status === 304) return { ...head, isModified: false, data: undefined }
  if (ok && isFile) return { ...head, isModified: true, data: await response.blob() }
  const data = parseJson(await response.text())
  if (ok && (data !== undefined || status === 204)) return { ...head, isModified: true, data }
  // Without a problem code, the response came from a proxy or from another service.
  const { code, detail, errors, current } = { ...(data as Partial<ErrorDetails>) }
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  throw new LockstepError({
    code: code ?? 'unexpected_response',
    detail: detail ?? `The response (${status}) did not come from Lockstep.`,
    status,
    ...(errors && { errors }),
    current,
    requestId: head.requestId,
    retryAfterSeconds: seconds >= 0 ? seconds : undefined,
  })
}

function headOf({ status, headers }: Response): ResponseHead {
  const header = (name: string) => headers.get(name) ?? undefined
  const next = /<[^>]*\?([^>]*)>; *rel="?next/.exec(header('link') ?? '')?.[1]
  return {
    status,
    position: header('board-position'),
    etag: header('etag'),
    isReplay: header('idempotent-replayed') === 'true',
    requestId: header('x-request-id'),
    next: next ? Object.fromEntries(new URLSearchParams(next)) : undefined,
  }
}
