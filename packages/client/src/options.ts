import type { LockstepError } from './errors.ts'

/** How an operation is sent. */
export interface OperationRow {
  method: string
  path: string
  /** The inputs that go into the query. Those that neither path nor query takes are the body. */
  query?: readonly string[]
  body?: 'json' | 'form' | 'upload'
  /** Needs no credential, and is given none. */
  is_public?: boolean
  /** Answers with the bytes of a file. */
  is_file?: boolean
  /** Whether it may be sent again when its answer was lost: always, with the key that the first try had, or never. */
  retry: 'always' | 'keyed' | 'never'
}

/** How long and how often a call may try. */
export interface Patience {
  /** The longest a call may take, with all its tries: 30 seconds, 5 minutes for files. */
  timeout_ms?: number | undefined
  /** The longest one try may take: 10 seconds, for files as long as the call. */
  try_timeout_ms?: number | undefined
  /** How often a request is sent at most: 4 times. 1 means that it is never repeated. */
  max_tries?: number | undefined
}

export interface ClientOptions extends Patience {
  /** Where the service is, with or without `/api`. Empty means the origin of the page. */
  base_url: string
  /** A token from an earlier login. Without one, `login` brings it. */
  token?: string | undefined
  /**
   * `token` (the default) keeps the token in memory and sends it as a bearer. `cookie` leaves it to the browser: `login` asks
   * for the cookie, which no script can read; the page must come from the service's origin, or one that it allows.
   */
  auth?: 'token' | 'cookie' | undefined
  /** Used in place of the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined
  /** Told whenever login, renewal, logout or the end of the session changes the token: the place to store it. */
  onToken?: ((token: string | undefined) => void) | undefined
  /** Told when the service no longer accepts the credential: the place to ask for the password again. */
  onSessionEnd?: ((error: LockstepError) => void) | undefined
}

export interface Progress {
  sent_bytes: number
  total_bytes: number
}

/** What can be said of any call. */
export interface CallOptions extends Patience {
  /** Ends the call, in whatever it is doing; it rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /** An ETag. The change is refused (`precondition_failed`, with `current`) when the thing is no longer in that state. */
  if_match?: string | undefined
  /** Takes the place of the key that the client makes for each write: for a write that must outlive this page. */
  idempotency_key?: string | undefined
  headers?: Record<string, string> | undefined
  /** Told how much of an upload is on its way. */
  onProgress?: ((progress: Progress) => void) | undefined
}

export interface RequestOptions extends CallOptions {
  /** An ETag. When nothing has changed since, the answer says so and has no data. */
  if_none_match?: string | undefined
}
