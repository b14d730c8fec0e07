import type { Position, Problem } from './core.ts'

/** The part of the HTTP client that a live board needs. */
export interface Api {
  /** Base URL of the service; empty for the origin of the page. */
  readonly baseUrl: string
  /**
   * Calls an operation by its name. Path, query and body inputs are in one object. A failure is thrown with `status`
   * and `code`; `status` is 0 or missing without a response.
   */
  request(name: string, input: Record<string, unknown>, options: LiveRequestOptions): Promise<LiveResponse>
}
export interface LiveRequestOptions {
  idempotencyKey?: string
  /** An ETag: the change is rejected with 412 if the resource has changed since. */
  ifMatch?: string
  signal: AbortSignal
  /** A queued change may have fields that the service does not know, or not anymore: they are ignored. */
  strict?: false
  /** The live board retries on its own, because it knows when the network is back. */
  maxTries: number
}
export interface LiveResponse {
  data: unknown
  /** The header `Board-Position`. */
  position?: string | undefined
  /** The header `ETag`. Conditional updates need it. */
  etag?: string | undefined
}

export interface LiveFailure extends Problem {
  retryAfterSeconds: number | undefined
}

/** The service's response in a thrown error; undefined if it is unknown whether the request arrived. */
export function failureOf(error: unknown): LiveFailure | undefined {
  const { status, code, detail, retryAfterSeconds } = (error ?? {}) as Partial<LiveFailure>
  // A proxy responded instead of the service.
  if (!status || code === 'unexpected_response') return undefined
  return { status, code: code ?? '', detail: detail ?? '', retryAfterSeconds }
}

export function positionOf(text: string | undefined): Position | undefined {
  const [, epoch, seq] = /^(\d+)\.(\d+)$/.exec(text ?? '') ?? []
  return epoch && seq ? { epoch: Number(epoch), seq: Number(seq) } : undefined
}
