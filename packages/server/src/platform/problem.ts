import { type ProblemCode, problems } from '@lockstep/contract/problems'

interface Circumstances {
  /** A sentence that says more than the catalogue's. */
  detail?: string
  /** Further fields of the body. */
  fields?: Record<string, unknown>
  /** With `precondition_failed`: how the thing is now, as JSON text. It can be megabytes, which are not parsed. */
  current?: string
  retry_after_seconds?: number
}

/** An error that the client is told of. Thrown anywhere, rendered in one place (`errors.ts`). */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly status: number
  readonly fields: Record<string, unknown>
  readonly current: string | undefined
  readonly retry_after_seconds: number | undefined

  constructor(code: ProblemCode, { detail, fields = {}, current, retry_after_seconds }: Circumstances = {}) {
    const { status, detail: usual } = problems[code]
    super(detail ?? usual)
    this.code = code
    this.status = status
    this.fields = fields
    this.current = current
    this.retry_after_seconds = retry_after_seconds ?? (status === 503 ? 1 : undefined)
  }

  /** The body of the response, as JSON. */
  text(): string {
    const text = JSON.stringify({ detail: this.message, code: this.code, ...this.fields })
    return this.current === undefined ? text : `${text.slice(0, -1)},"current":${this.current}}`
  }
}

/** Constraints whose violation is the client's doing: the database has the last word, whatever was checked before. */
const problemOfConstraint: Record<string, ProblemCode> = {
  users_email_taken: 'email_taken',
  users_username_taken: 'username_taken',
  board_stream_id_taken: 'id_taken',
  columns_pkey: 'id_taken',
  columns_id_taken: 'id_taken',
  cards_pkey: 'id_taken',
  cards_id_taken: 'id_taken',
  labels_pkey: 'id_taken',
  labels_id_taken: 'id_taken',
  automation_rules_pkey: 'id_taken',
  automation_rules_id_taken: 'id_taken',
  checklists_pkey: 'id_taken',
  checklists_id_taken: 'id_taken',
  checklist_items_pkey: 'id_taken',
  checklist_items_id_taken: 'id_taken',
  attachments_pkey: 'id_taken',
  attachments_id_taken: 'id_taken',
}

/** What PostgreSQL or the pool says, as a problem; undefined when it is a defect of ours. */
export function problemOfDatabase(error: unknown): Problem | undefined {
  if (!(error instanceof Error)) return undefined
  const { code = '', constraint = '' } = error as Error & { code?: string; constraint?: string }
  const known = problemOfConstraint[constraint]
  if (known) return new Problem(known)
  if (code === '55P03') return new Problem('board_busy')
  if (code === '57014') return new Problem('query_timeout')
  if (code === '53100') return new Problem('storage_full')
  if (isUnreachable(error, code)) return new Problem('unavailable')
  return undefined
}

/**
 * Lost or refused connections, shutdown and start of the server, exhausted resources; and a server that takes no writes (25006): a standby, or one that was the primary and is no more.
 */
const unreachable = /^(08|53|57P|25P03|25006|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET|EADDRNOTAVAIL)/
const isUnreachable = (error: Error, code: string): boolean =>
  unreachable.test(code) ||
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed)/.test(
    error.message,
  ) ||
  (error instanceof AggregateError &&
    error.errors.some((e: Error & { code?: string }) => isUnreachable(e, e.code ?? '')))
