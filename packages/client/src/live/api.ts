import type { Position, Problem } from './core.ts'

/** What a live board needs of the HTTP client. */
export interface Api {
  /** Where the service is; empty for the origin of the page. */
  readonly base_url: string
  /**
   * Calls an operation by its name, with the ids of its path, its query and its body side by side. A failure is thrown
   * with `status` and `code`; without an answer of the service, `status` is 0 or missing.
   */
  request(name: string, input: Record<string, unknown>, options: RequestOptions): Promise<ApiAnswer>
}
export interface RequestOptions {
  idempotency_key?: string
  /** An ETag: the change is refused with 412 when the thing is no longer in that state. */
  if_match?: string
  signal: AbortSignal
  /** The live board repeats by itself: it knows best when there is a network again. */
  max_tries: number
}
export interface ApiAnswer {
  data: unknown
  /** The header `Board-Position`. */
  position?: string | undefined
  /** The header `ETag`. Without it no change can be guarded. */
  etag?: string | undefined
}

export interface Failure extends Problem {
  retry_after_seconds: number | undefined
}

/** What was thrown, as far as the service said it; undefined when nobody knows whether the request got there. */
export function failureOf(error: unknown): Failure | undefined {
  const { status, code, detail, retry_after_seconds } = (error ?? {}) as Partial<Failure>
  // Somebody on the way answered in the service's place: what the service would say is not known.
  if (!status || code === 'unexpected_answer') return undefined
  return { status, code: code ?? '', detail: detail ?? '', retry_after_seconds }
}

export function positionOf(text: string | undefined): Position | undefined {
  const [, epoch, seq] = /^(\d+)\.(\d+)$/.exec(text ?? '') ?? []
  return epoch && seq ? { epoch: Number(epoch), seq: Number(seq) } : undefined
}
