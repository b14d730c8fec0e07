import type { LockstepError } from './errors.ts'
import type { OperationName } from './types.gen.ts'

/** How an operation is sent over HTTP. */
export interface OperationRow {
  method: string
  path: string
  /** The format of the body. Inputs that are not in the path form the body, or the query string of a GET. */
  body?: 'json' | 'form' | 'upload'
  /** Sent without a credential. */
  isPublic?: boolean
  /** The response is a file. */
  isFile?: boolean
  /**
   * Whether it may be sent again when its response was lost: always (the default of a GET), with the same idempotency key
   * (that of all others), or never.
   */
  retry?: 'always' | 'keyed' | 'never'
}

/** Limits for the retries of a call. */
export interface RetryLimits {
  /** Maximum duration of a call including all attempts: 30 seconds, 5 minutes for files. */
  timeoutMs?: number | undefined
  /** Maximum duration of one attempt: 10 seconds; for files, the duration of the call. */
  tryTimeoutMs?: number | undefined
  /** Maximum number of attempts: 4. 1 disables retries. */
  maxTries?: number | undefined
}

export interface ClientOptions extends RetryLimits {
  /** Base URL of the service, with or without `/api`. Empty means the origin of the page. */
  baseUrl: string
  /** A token from an earlier login, or an access token (`lsp_…`, `lsb_…`), which is never renewed. Without one, call `login`. */
  token?: string | undefined
  /**
   * `token` (the default) keeps the token in memory and sends it as a bearer token. `cookie` keeps it in an HTTP-only
   * cookie set by `login`; the page must come from the service's origin or an allowed one.
   */
  auth?: 'token' | 'cookie' | undefined
  /**
   * Has the service reject inputs with unknown fields (`unknown_field`), for example misspelled ones, which it ignores
   * otherwise. Live boards never do this: a queued change must not fail because of its version.
   */
  strict?: boolean | undefined
  /** Replaces the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined
  /** Called before each attempt of a request with a credential. If it throws, nothing is sent. */
  beforeSend?: ((operation: OperationName) => void) | undefined
  /** Called when login, renewal, logout or the end of the session changes the token. Store the token here. */
  onToken?: ((token: string | undefined) => void) | undefined
  /** Called when the service no longer accepts the credential. Ask for the password, or for another access token, here. */
  onSessionEnd?: ((error: LockstepError) => void) | undefined
}

export interface Progress {
  sentBytes: number
  totalBytes: number
}

/** Options of a call. */
export interface CallOptions extends RetryLimits {
  /** Aborts the call, which rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /** An ETag. The change is rejected (`precondition_failed`, with `current`) if the resource has changed since. */
  ifMatch?: string | undefined
  /** Replaces the generated idempotency key, for a write that must survive a reload. */
  idempotencyKey?: string | undefined
  /** Replaces the option `strict` of the client. */
  strict?: boolean | undefined
  headers?: Record<string, string> | undefined
  /** Called with the upload progress. */
  onProgress?: ((progress: Progress) => void) | undefined
}

export interface RequestOptions extends CallOptions {
  /** An ETag. If nothing has changed since, the response has `isModified: false` and no data. */
  ifNoneMatch?: string | undefined
}
