import { type ProblemCode, problems } from '@lockstep/contract/problems'

interface ProblemOptions {
  /** Replaces the detail of the catalogue. */
  detail?: string
  /** Additional fields of the body. */
  fields?: Record<string, unknown>
  /** With `precondition_failed`: the current resource as JSON text. Never parsed, because it can have megabytes. */
  current?: string
  retryAfterSeconds?: number
  /** Additional headers of the response. */
  headers?: Record<string, string>
}

/** An error that is returned to the client. Thrown anywhere, rendered by `http/error-handler.ts`. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly status: number
  readonly fields: Record<string, unknown>
  readonly current: string | undefined
  readonly retryAfterSeconds: number | undefined
  readonly headers: Record<string, string>

  constructor(
    code: ProblemCode,
    { detail, fields = {}, current, retryAfterSeconds, headers = {} }: ProblemOptions = {},
  ) {
    const { status, detail: defaultDetail } = problems[code]
    super(detail ?? defaultDetail)
    this.code = code
    this.status = status
    this.fields = fields
    this.current = current
    this.headers = headers
    this.retryAfterSeconds = retryAfterSeconds ?? (status === 503 ? 1 : undefined)
  }

  /** The body of the response, as JSON. */
  text(): string {
    const text = JSON.stringify({ detail: this.message, code: this.code, ...this.fields })
    return this.current === undefined ? text : `${text.slice(0, -1)},"current":${this.current}}`
  }
}
