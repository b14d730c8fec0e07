import { type Answer, type NotModified, readAnswer } from './answer.ts'
import type { Calls } from './calls.gen.ts'
import { isLockstepError } from './errors.ts'
import { operations } from './operations.gen.ts'
import type { CallOptions, ClientOptions, OperationRow, Patience, RequestOptions } from './options.ts'
import { type Bounds, withRetries } from './retry.ts'
import { type Sending, send, sendingOf } from './send.ts'
import { OpenSession, type Session } from './session.ts'
import type { OperationName, Operations, Token } from './types.gen.ts'

type Input<N extends OperationName> = Operations[N]['input']
type Result<N extends OperationName> = Operations[N]['result']
/** The operations that answer with a list. */
export type ListName = { [N in OperationName]: Result<N> extends unknown[] ? N : never }[OperationName]

export interface Client extends Calls {
  readonly base_url: string
  readonly session: Session
  /** Calls an operation by its name, and hands back all that the answer says. */
  request<N extends OperationName>(
    name: N,
    input: Input<N>,
    options: RequestOptions & { if_none_match: string | undefined },
  ): Promise<Answer<Result<N>> | NotModified>
  request<N extends OperationName>(name: N, input: Input<N>, options?: CallOptions): Promise<Answer<Result<N>>>
  /** The pages of a list, one request for each as it is asked for. */
  pages<N extends ListName>(name: N, input: Input<N>, options?: CallOptions): AsyncGenerator<Result<N>, void, undefined>
  /** Ends the renewal of the session. Calls that are under way go on. */
  close(): void
}

/** A client of one service, for one user. */
export function createClient(options: ClientOptions): Client {
  const base_url = options.base_url.replace(/\/+$/, '')
  const session: OpenSession = new OpenSession(options, () => call('refresh'))

  async function call(
    name: OperationName,
    input: Record<string, unknown> = {},
    call_options: RequestOptions = {},
  ): Promise<Answer<unknown> | NotModified> {
    const row = operations[name]
    const asked = name === 'login' && session.has_cookie ? { cookie: 'true', ...input } : input
    const sending = sendingOf(name, row, asked)
    sending.url = base_url + sending.url
    Object.assign(sending.headers, headersOf(row, call_options))
    const { generation } = session
    const bounds = boundsOf(row, options, call_options)
    const answer = await withRetries((signal) => attempt(name, sending, { ...call_options, signal }), bounds)
    // Who logged out, or logged in as somebody else, while a renewal was under way does not want its token.
    const isWanted = name === 'login' || (name === 'refresh' && generation === session.generation)
    if (isWanted) session.take(answer.data as Token)
    else if (name === 'logout' || name === 'logoutEverywhere') session.clear()
    else if (!row.is_public && name !== 'refresh') session.accepted()
    return answer
  }

  async function attempt(
    name: OperationName,
    sending: Sending,
    way: CallOptions & { signal: AbortSignal },
    isSecond = false,
  ): Promise<Answer<unknown> | NotModified> {
    const row = operations[name]
    const isRenewal = name === 'refresh'
    const token = row.is_public ? undefined : isRenewal ? session.token : await session.credential()
    const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...sending.headers }
    const { signal, onProgress } = way
    const { fetch = globalThis.fetch } = options
    try {
      const response = await send(
        { ...sending, headers },
        { fetch, has_cookie: session.has_cookie, signal, onProgress },
      )
      return await readAnswer(row, response)
    } catch (error) {
      if (row.is_public || !isLockstepError(error, 'not_authenticated')) throw error
      // Refused with a token that was replaced meanwhile: nothing was done, and the new one may do it.
      if (!isSecond && !isRenewal && (await session.hasOther(token))) return attempt(name, sending, way, true)
      session.end(error, token)
      throw error
    }
  }

  const request = (name: OperationName, input?: Record<string, unknown>, call_options?: RequestOptions) =>
    call(name, input, call_options)
  const calls = Object.keys(operations).map((name) => [
    name,
    async (input?: Record<string, unknown>, call_options?: CallOptions) =>
      (await call(name as OperationName, input, call_options)).data,
  ])
  async function* pages(name: ListName, input: Record<string, unknown>, call_options?: CallOptions) {
    for (let next: Record<string, string> | undefined = {}; next; ) {
      const answer: Answer<unknown> | NotModified = await call(name, { ...input, ...next }, call_options)
      yield answer.data
      next = answer.next
    }
  }
  const own = { base_url, session, request, pages, close: () => session.close() }
  // The table has a row for each operation, and each row is called in the same way: the compiler cannot follow that.
  return Object.assign(Object.fromEntries(calls), own) as Client
}

/** What the call asks for, else what the client does, else the usual. Files take as long as they take. */
function boundsOf({ retry, is_file, body }: OperationRow, usual: Patience, asked: CallOptions): Bounds {
  const isLong = is_file === true || body === 'upload'
  const timeout_ms = asked.timeout_ms ?? usual.timeout_ms ?? (isLong ? 300_000 : 30_000)
  return {
    tries: retry === 'never' ? 1 : (asked.max_tries ?? usual.max_tries ?? 4),
    timeout_ms,
    try_timeout_ms: asked.try_timeout_ms ?? usual.try_timeout_ms ?? (isLong ? timeout_ms : 10_000),
    signal: asked.signal,
  }
}

function headersOf({ retry }: OperationRow, options: RequestOptions): Record<string, string> {
  const { if_match, if_none_match, idempotency_key = retry === 'keyed' ? newKey() : undefined, headers } = options
  return {
    ...(idempotency_key !== undefined && { 'idempotency-key': idempotency_key }),
    ...(if_match !== undefined && { 'if-match': if_match }),
    ...(if_none_match !== undefined && { 'if-none-match': if_none_match }),
    ...headers,
  }
}

/** Random, also on pages without TLS, where `crypto.randomUUID` is missing. */
const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(36)).join('')
