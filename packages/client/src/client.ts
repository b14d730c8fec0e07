import type { Calls } from './calls.gen.ts'
import { isLockstepError, LockstepError } from './errors.ts'
import { operations } from './operations.gen.ts'
import type { CallOptions, ClientOptions, OperationRow, RequestOptions, RetryLimits } from './options.ts'
import { randomId } from './random-id.ts'
import { type ApiResponse, type NotModified, readResponse } from './response.ts'
import { type AttemptLimits, withRetries } from './retry.ts'
import { buildRequest, type HttpRequest, present, send } from './send.ts'
import { ClientSession, type Session } from './session.ts'
import type { OperationName, Operations, Token } from './types.gen.ts'

type Input<N extends OperationName> = Operations[N]['input']
type Result<N extends OperationName> = Operations[N]['result']
/** The operations that return a list. */
export type ListName = { [N in OperationName]: Result<N> extends unknown[] ? N : never }[OperationName]

/** The lists that require no input. */
type FreeListName = { [N in ListName]: Record<never, never> extends Input<N> ? N : never }[ListName]

export interface Client extends Calls {
  readonly baseUrl: string
  readonly session: Session
  /** Calls an operation by its name and returns the whole response. */
  request<N extends OperationName>(
    name: N,
    input: Input<N>,
    options: RequestOptions & { ifNoneMatch: string | undefined },
  ): Promise<ApiResponse<Result<N>> | NotModified>
  request<N extends OperationName>(name: N, input: Input<N>, options?: CallOptions): Promise<ApiResponse<Result<N>>>
  /** The pages of a list. Each page is requested when the iterator reaches it. */
  pages<N extends ListName>(name: N, input: Input<N>, options?: CallOptions): AsyncGenerator<Result<N>, void, undefined>
  pages<N extends FreeListName>(name: N): AsyncGenerator<Result<N>, void, undefined>
  /** Stops renewing the session. Pending calls continue. */
  close(): void
}

/** Creates a client for one service and one user. */
export function createClient(options: ClientOptions): Client {
  if (options?.baseUrl === undefined) throw new TypeError('createClient needs baseUrl')
  const baseUrl = options.baseUrl.replace(/\/+$/, '')
  const session: ClientSession = new ClientSession(options, () => call('refresh'))

  async function call(
    name: OperationName,
    input: Record<string, unknown> = {},
    callOptions: RequestOptions = {},
  ): Promise<ApiResponse<unknown> | NotModified> {
    const row = operations[name]
    const fullInput = name === 'login' && session.usesCookie ? { cookie: 'true', ...input } : input
    const httpRequest = buildRequest(name, row, fullInput)
    httpRequest.url = baseUrl + httpRequest.url
    Object.assign(httpRequest.headers, headersOf(row, { strict: options.strict, ...callOptions }))
    const { generation } = session
    const response = await withRetries(
      (signal) => attempt(name, httpRequest, { ...callOptions, signal }),
      limitsOf(row, options, callOptions),
    ).catch((error: unknown) => {
      if (!isLockstepError(error)) throw error
      const { url } = httpRequest
      const { cause, ...details } = error
      if (error.code === 'network_failed' && isOtherOrigin(url)) details.detail = UNREACHABLE_FROM_HERE
      throw new LockstepError({ ...details, cause, operation: name }, url)
    })
    // Ignore a renewed token if the user has logged out or logged in again in the meantime.
    const isCurrent = name === 'login' || (name === 'refresh' && generation === session.generation)
    if (isCurrent) session.acceptToken(response.data as Token)
    else if (name === 'logout' || name === 'logoutEverywhere') session.clear()
    else if (!row.isPublic && name !== 'refresh') session.onAccepted()
    return response
  }

  async function attempt(
    name: OperationName,
    httpRequest: HttpRequest,
    attemptOptions: CallOptions & { signal: AbortSignal },
    isRepeated = false,
  ): Promise<ApiResponse<unknown> | NotModified> {
    const row = operations[name]
    const isRenewal = name === 'refresh'
    const token = row.isPublic ? undefined : isRenewal ? session.token : await session.freshToken()
    const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...httpRequest.headers }
    const { fetch = globalThis.fetch } = options
    if (!row.isPublic) options.beforeSend?.(name)
    try {
      const response = await send(
        { ...httpRequest, headers },
        { ...attemptOptions, fetch, usesCookie: session.usesCookie },
      )
      return await readResponse(row, response)
    } catch (error) {
      if (row.isPublic || !isLockstepError(error, 'not_authenticated')) throw error
      // Rejected with a token that has been replaced since: nothing was changed, so retry with the new one.
      if (!isRepeated && !isRenewal && (await session.wasReplaced(token)))
        return attempt(name, httpRequest, attemptOptions, true)
      session.end(error, token)
      throw error
    }
  }

  const calls = Object.keys(operations).map((name) => [
    name,
    async (input?: Record<string, unknown>, callOptions?: CallOptions) =>
      (await call(name as OperationName, input, callOptions)).data,
  ])
  async function* pages(name: ListName, input?: Record<string, unknown>, callOptions?: CallOptions) {
    for (let next: Record<string, string> | undefined = {}; next; ) {
      const response: ApiResponse<unknown> | NotModified = await call(name, { ...input, ...next }, callOptions)
      yield response.data
      next = response.next
    }
  }
  const own = { baseUrl, session, request: call, pages, close: () => session.close() }
  // The operation table has a row per operation. The compiler cannot verify that this covers `Calls`.
  return Object.assign(Object.fromEntries(calls), own) as Client
}

/** A browser hides why a request to another origin failed. */
const UNREACHABLE_FROM_HERE = 'The service could not be reached, or does not allow this origin (CORS_ORIGINS).'
/** Whether it is a URL of another origin than that of this page or worker. Always false outside a browser. */
const isOtherOrigin = (url: string) =>
  url[0] !== '/' && !url.startsWith((globalThis as { location?: { origin: string } }).location?.origin ?? '')

/** The limits of the call, then of the client, then the defaults. Files get more time. */
function limitsOf({ retry, isFile, body }: OperationRow, defaults: RetryLimits, requested: CallOptions): AttemptLimits {
  const isLong = isFile === true || body === 'upload'
  const timeoutMs = requested.timeoutMs ?? defaults.timeoutMs ?? (isLong ? 300_000 : 30_000)
  return {
    tries: retry === 'never' ? 1 : (requested.maxTries ?? defaults.maxTries ?? 4),
    timeoutMs,
    tryTimeoutMs: requested.tryTimeoutMs ?? defaults.tryTimeoutMs ?? (isLong ? timeoutMs : 10_000),
    signal: requested.signal,
  }
}

function headersOf(
  { method, retry = method === 'GET' ? 'always' : 'keyed' }: OperationRow,
  options: RequestOptions,
): Record<string, string> {
  const { ifMatch, ifNoneMatch, strict, idempotencyKey = retry === 'keyed' ? randomId() : undefined, headers } = options
  const own = {
    'idempotency-key': idempotencyKey,
    prefer: strict ? 'handling=strict' : undefined,
    'if-match': ifMatch,
    'if-none-match': ifNoneMatch,
  }
  return { ...Object.fromEntries(present(own)), ...headers }
}
