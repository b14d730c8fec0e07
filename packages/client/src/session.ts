import { isLockstepError, type LockstepError } from './errors.ts'
import type { ClientOptions } from './options.ts'
import type { Token } from './types.gen.ts'

/**
 * A session is renewed when 20 % of its lifetime is left. A call waits for the renewal when less than 5 seconds are
 * left.
 */
const RENEW_SHARE = 0.2
const MIN_LIFETIME_MS = 5000
const RENEW_RETRY_MS = 30_000
/** Timers longer than this overflow and fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** The credential of a client. It is renewed before it expires. */
export interface Session {
  /** The token in use. Undefined before login, after the session ends, and always in cookie mode. */
  readonly token: string | undefined
  /** Milliseconds since 1970; undefined if the expiry is unknown. */
  readonly expiresAt: number | undefined
  /** Renews the token of a login. Concurrent calls share one request. Renewal also happens automatically. */
  renew: () => Promise<void>
  /** Sets a token that another tab or a store provides. Does not call `onToken`. */
  setToken: (token: string | undefined) => void
}

export class ClientSession implements Session {
  token: string | undefined
  expiresAt: number | undefined
  /** Increases with every new credential. */
  generation = 0
  #renewAt: number | undefined
  #isOpen = false
  #isClosed = false
  #renewal: Promise<void> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #options: Pick<ClientOptions, 'auth' | 'onToken' | 'onSessionEnd'>
  readonly #refresh: () => Promise<unknown>

  /** `refresh` sends the renewal request and passes its token to `acceptToken`. */
  constructor(
    options: Pick<ClientOptions, 'auth' | 'token' | 'onToken' | 'onSessionEnd'>,
    refresh: () => Promise<unknown>,
  ) {
    this.#options = options
    this.#refresh = refresh
    this.setToken(options.token)
  }

  /** Access tokens cannot be renewed. Their expiry is not known here: one that has expired is rejected. */
  get #isAccessToken(): boolean {
    return /^ls[pb]_/.test(this.token ?? '')
  }

  get usesCookie(): boolean {
    return this.#options.auth === 'cookie'
  }

  setToken(token: string | undefined): void {
    this.#setCredential(token, (exp) => exp * 1000)
  }

  /**
   * Stores the token of a login or a renewal. Its lifetime counts from now because the clocks may differ, minus one
   * second because the claims are whole seconds.
   */
  acceptToken({ access_token }: Token): void {
    this.#setCredential(access_token, (exp, iat) => Date.now() + (exp - iat - 1) * 1000)
    if (!this.usesCookie) this.#options.onToken?.(access_token)
  }

  /** The token for a request. It is renewed first if it is about to expire. */
  async freshToken(): Promise<string | undefined> {
    if (this.#renewAt !== undefined && Date.now() >= this.#renewAt) {
      const renewal = this.#renewInBackground()
      if (Date.now() >= (this.expiresAt ?? Infinity) - MIN_LIFETIME_MS) await renewal
    }
    return this.token
  }

  /**
   * Called after a successful request. The expiry of a cookie set before the page was loaded becomes known by
   * renewing it.
   */
  onAccepted(): void {
    if (!this.usesCookie || this.#isOpen) return
    this.#isOpen = true
    void this.#renewInBackground()
  }

  /** Called after a 401: whether the token has been replaced since the request was sent. */
  async wasReplaced(token: string | undefined): Promise<boolean> {
    await this.#renewal?.catch(() => {})
    return this.token !== undefined && this.token !== token
  }

  renew(): Promise<void> {
    if (this.#isAccessToken) return Promise.resolve()
    // The caller knows that there is a cookie, so a rejection is the end of its session.
    if (this.usesCookie) this.#isOpen = true
    this.#renewal ??= this.#refresh()
      .then(() => {})
      .catch((error: unknown) => {
        // A session that is too old to renew stays valid until it expires. Other failures may be temporary.
        this.#scheduleRenewal(isLockstepError(error, 'session_too_old') ? undefined : Date.now() + RENEW_RETRY_MS)
        throw error
      })
      .finally(() => {
        this.#renewal = undefined
      })
    return this.#renewal
  }

  /** The service rejected the credential. Ignored if the client already has another token. */
  end(error: LockstepError, token: string | undefined): void {
    if (!this.#isOpen || token !== this.token) return
    this.clear()
    this.#options.onSessionEnd?.(error)
  }

  clear(): void {
    this.setToken(undefined)
    if (!this.usesCookie) this.#options.onToken?.(undefined)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #renewInBackground(): Promise<void> {
    return this.renew().catch(() => {})
  }

  #setCredential(token: string | undefined, expiry: (exp: number, iat: number) => number): void {
    const claims = claimsOf(token)
    this.token = this.usesCookie ? undefined : token
    this.#isOpen = token !== undefined
    this.generation++
    this.expiresAt = claims && expiry(claims.exp, claims.iat)
    this.#scheduleRenewal(claims && (this.expiresAt as number) - (claims.exp - claims.iat) * 1000 * RENEW_SHARE)
  }

  #scheduleRenewal(renewAt: number | undefined): void {
    this.#renewAt = this.#isOpen ? renewAt : undefined
    clearTimeout(this.#timer)
    if (this.#renewAt === undefined || this.#isClosed) return
    const waitMs = Math.min(Math.max(this.#renewAt - Date.now(), 0), MAX_TIMER_MS)
    this.#timer = setTimeout(() => {
      // Timers may fire slightly early, and long ones are capped.
      if (Date.now() < (this.#renewAt ?? 0)) this.#scheduleRenewal(this.#renewAt)
      else void this.#renewInBackground()
    }, waitMs)
    // Do not keep a Node process alive. In browsers a timer is a number.
    const timer: { unref?: () => void } = Object(this.#timer)
    timer.unref?.()
  }
}

/** The issue and expiry times of a token in seconds; undefined if it is not a JWT. */
function claimsOf(token = ''): { iat: number; exp: number } | undefined {
  try {
    const part = token.split('.')[1] ?? ''
    const { iat, exp } = JSON.parse(atob(part.replaceAll('-', '+').replaceAll('_', '/')))
    return typeof iat === 'number' && typeof exp === 'number' ? { iat, exp } : undefined
  } catch {
    return undefined
  }
}
