import { isLockstepError, type LockstepError } from './errors.ts'
import type { ClientOptions } from './options.ts'
import type { Token } from './types.gen.ts'

/** A session is renewed when a fifth of its time is left, and before a call when it is nearly over. */
const RENEW_SHARE = 0.2
const NEARLY_OVER_MS = 5000
const RENEW_AGAIN_MS = 30_000
/** Longer timers overflow and fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The credential of a client, kept valid while the client lives. */
export interface Session {
  /** The token in use. Undefined before the login, after the end, and always in cookie mode. */
  readonly token: string | undefined
  /** Milliseconds since 1970; undefined when nobody knows. */
  readonly expires_at: number | undefined
  /** Gets a new token for the present one, once, however many ask meanwhile. It also happens by itself. */
  renew: () => Promise<void>
  /** Takes over a token that another tab or a store has. `onToken` is not told. */
  setToken: (token: string | undefined) => void
}

export class OpenSession implements Session {
  token: string | undefined
  expires_at: number | undefined
  /** Counts the credentials that there were. */
  generation = 0
  private renew_at: number | undefined
  private isOpen = false
  private isClosed = false
  private renewal: Promise<void> | undefined
  private timer: ReturnType<typeof setTimeout> | undefined
  private readonly options: Pick<ClientOptions, 'auth' | 'onToken' | 'onSessionEnd'>
  private readonly refresh: () => Promise<unknown>

  /** `refresh` is the call that renews; it hands its token to `take`. */
  constructor(
    options: Pick<ClientOptions, 'auth' | 'token' | 'onToken' | 'onSessionEnd'>,
    refresh: () => Promise<unknown>,
  ) {
    this.options = options
    this.refresh = refresh
    this.setToken(options.token)
  }

  get has_cookie(): boolean {
    return this.options.auth === 'cookie'
  }

  setToken(token: string | undefined): void {
    this.adopt(token, (exp) => exp * 1000)
  }

  /**
   * The answer of a login or a renewal. Its time counts from now, because the two clocks need not agree, less the part of a
   * second that its claims leave out.
   */
  take({ access_token }: Token): void {
    this.adopt(access_token, (exp, iat) => Date.now() + (exp - iat - 1) * 1000)
    if (!this.has_cookie) this.options.onToken?.(access_token)
  }

  /** The token for a request, renewed first if it is nearly over. */
  async credential(): Promise<string | undefined> {
    if (this.renew_at !== undefined && Date.now() >= this.renew_at) {
      const renewal = this.renewInBackground()
      if (Date.now() >= (this.expires_at ?? Infinity) - NEARLY_OVER_MS) await renewal
    }
    return this.token
  }

  /** After a request was accepted. The time of a cookie that was there before us becomes known by renewing it. */
  accepted(): void {
    if (!this.has_cookie || this.isOpen) return
    this.isOpen = true
    void this.renewInBackground()
  }

  /** After a request was refused: whether there is another token by now. */
  async hasOther(token: string | undefined): Promise<boolean> {
    await this.renewal?.catch(() => {})
    return this.token !== undefined && this.token !== token
  }

  renew(): Promise<void> {
    this.renewal ??= this.refresh()
      .then(() => {})
      .catch((error: unknown) => {
        // Too old to be renewed, it still lives until it expires; anything else may pass.
        this.plan(isLockstepError(error, 'session_too_old') ? undefined : Date.now() + RENEW_AGAIN_MS)
        throw error
      })
      .finally(() => {
        this.renewal = undefined
      })
    return this.renewal
  }

  /** The service no longer accepts the credential. What is said of an earlier one is no news. */
  end(error: LockstepError, token: string | undefined): void {
    if (!this.isOpen || token !== this.token) return
    this.clear()
    this.options.onSessionEnd?.(error)
  }

  clear(): void {
    this.setToken(undefined)
    if (!this.has_cookie) this.options.onToken?.(undefined)
  }

  close(): void {
    this.isClosed = true
    clearTimeout(this.timer)
  }

  private renewInBackground(): Promise<void> {
    return this.renew().catch(() => {})
  }

  private adopt(token: string | undefined, expiry: (exp: number, iat: number) => number): void {
    const claims = token === undefined ? undefined : claimsOf(token)
    this.token = this.has_cookie ? undefined : token
    this.isOpen = token !== undefined
    this.generation++
    this.expires_at = claims && expiry(claims.exp, claims.iat)
    this.plan(claims && (this.expires_at as number) - (claims.exp - claims.iat) * 1000 * RENEW_SHARE)
  }

  private plan(renew_at: number | undefined): void {
    this.renew_at = this.isOpen ? renew_at : undefined
    clearTimeout(this.timer)
    if (this.renew_at === undefined || this.isClosed) return
    const wait_ms = Math.min(Math.max(this.renew_at - Date.now(), 0), LONGEST_TIMER_MS)
    this.timer = setTimeout(() => {
      // Timers may come a moment early by the clock, and the longest ones come much too early.
      if (Date.now() < (this.renew_at ?? 0)) this.plan(this.renew_at)
      else void this.renewInBackground()
    }, wait_ms)
    // In Node a session must not keep the process alive; in a browser a timer is a number.
    const timer: { unref?: () => void } = Object(this.timer)
    timer.unref?.()
  }
}

/** When a token was issued and when it ends, in seconds; undefined when it is no JWT. */
function claimsOf(token: string): { iat: number; exp: number } | undefined {
  try {
    const part = token.split('.')[1] ?? ''
    const { iat, exp } = JSON.parse(atob(part.replaceAll('-', '+').replaceAll('_', '/')))
    return typeof iat === 'number' && typeof exp === 'number' ? { iat, exp } : undefined
  } catch {
    return undefined
  }
}
