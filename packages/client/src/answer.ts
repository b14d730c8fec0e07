import { type Failure, LockstepError } from './errors.ts'
import type { OperationRow } from './options.ts'

/** What an answer says besides its data. */
interface Head {
  status: number
  /** `Board-Position`: the state of the board, as `<epoch>.<seq>`. */
  position: string | undefined
  etag: string | undefined
  /** Whether a write with this key had been answered before, and this is that answer again. */
  is_replay: boolean
  request_id: string | undefined
  /** What to ask for to get the next page. */
  next: Record<string, string> | undefined
}
export interface Answer<T> extends Head {
  is_modified: true
  data: T
}
/** Nothing has changed since the state that `if_none_match` named. */
export interface NotModified extends Head {
  is_modified: false
  data: undefined
}

/** Reads an answer to its end. One that is no success is thrown. */
export async function readAnswer(
  { is_file }: OperationRow,
  response: Response,
): Promise<Answer<unknown> | NotModified> {
  const { status, ok } = response
  const head = headOf(response)
  if (status === 304) return { ...head, is_modified: false, data: undefined }
  if (ok && is_file) return { ...head, is_modified: true, data: await response.blob() }
  const data = parse(await response.text())
  if (ok && (data !== undefined || status === 204)) return { ...head, is_modified: true, data }
  // Without the service's own words it is a proxy's answer, or no service of this kind.
  const { code, detail, errors, current } = { ...(data as Partial<Failure>) }
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  throw new LockstepError({
    code: code ?? 'unexpected_answer',
    detail: detail ?? `The answer (${status}) is not one of Lockstep.`,
    status,
    ...(errors && { errors }),
    current,
    request_id: head.request_id,
    retry_after_seconds: seconds >= 0 ? seconds : undefined,
  })
}

function headOf({ status, headers }: Response): Head {
  const header = (name: string) => headers.get(name) ?? undefined
  const next = /<[^>]*\?([^>]*)>; *rel="?next/.exec(header('link') ?? '')?.[1]
  return {
    status,
    position: header('board-position'),
    etag: header('etag'),
    is_replay: header('idempotent-replayed') === 'true',
    request_id: header('x-request-id'),
    next: next === undefined ? undefined : Object.fromEntries(new URLSearchParams(next)),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
