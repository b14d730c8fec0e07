import { hash } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'

const AUDIENCE = 'lockstep:auth'
const TICKET_AUDIENCE = 'lockstep:socket'
export const TICKET_SECONDS = 30
/**
 * Expiry is checked by the database's clock, in the access statement. By the clock of this machine, only a token that expired
 * longer ago than this is rejected, without a statement.
 */
const LOCAL_CLOCK_SECONDS = 86_400
/** Size of the cache of verified tokens. */
const MAX_VERIFIED = 20_000

interface Claims {
  user_id: string
  /** Seconds since the epoch. */
  issued_at: number
  expires_at: number
  /** The time of the login, which refreshed tokens inherit. */
  logged_in_at: number
}

/** The verified token of a login, or a ticket for it. Whether the user is active and the token not revoked is checked in the database. */
export interface SessionCredential extends Claims {
  /** Identifies the token where the token itself must not be stored. */
  token_hash: string
  /** When the token or ticket expires, in seconds since the epoch. */
  usableUntil: number
  token_id?: undefined
}
/** A known access token, or a ticket for it. Whether it is valid is checked in the database. */
export interface TokenCredential {
  user_id: string
  token_id: string
  /** Empty for a ticket. */
  token_hash: string
  /** When the ticket expires; infinity without one. */
  usableUntil: number
}
export type Credential = SessionCredential | TokenCredential

interface TokenSettings {
  secret: string
  /** Also accepted, while the secret is being replaced; empty for none. */
  previousSecret?: string
  algorithm: 'HS256' | 'HS384' | 'HS512'
  lifetimeSeconds: number
  /** Whether tickets for access tokens are accepted. */
  hasAccessTokens?: boolean
}

/** Signs and verifies the tokens of logins, and tickets. Only the configured algorithm is accepted. `checkAccess` checks expiry and revocation. */
export class Tokens {
  private readonly key: Promise<CryptoKey>
  private readonly previousKey: Promise<CryptoKey> | undefined
  private readonly algorithm: string
  /** Verified tokens by their hash, so that no usable token stays in memory. */
  private readonly verifiedTokens = new LRUCache<string, SessionCredential>({ max: MAX_VERIFIED })
  private readonly hasAccessTokens: boolean
  readonly lifetimeSeconds: number

  constructor({ secret, previousSecret = '', algorithm, lifetimeSeconds, hasAccessTokens = true }: TokenSettings) {
    this.algorithm = algorithm
    this.hasAccessTokens = hasAccessTokens
    this.lifetimeSeconds = lifetimeSeconds
    const hash = `SHA-${algorithm.slice(2)}`
    // Imported once, because an import costs more than a signature.
    const keyOf = (text: string) =>
      crypto.subtle.importKey('raw', Buffer.from(text), { name: 'HMAC', hash }, false, ['sign', 'verify'])
    this.key = keyOf(secret)
    this.previousKey = previousSecret === '' ? undefined : keyOf(previousSecret)
  }

  /** `issued_at` comes from the database's clock, which also dates password changes. */
  async issue(user_id: string, issued_at: number, logged_in_at?: number): Promise<string> {
    return new SignJWT(logged_in_at === undefined ? {} : { auth_time: logged_in_at })
      .setProtectedHeader({ alg: this.algorithm, typ: 'JWT' })
      .setSubject(user_id)
      .setAudience([AUDIENCE])
      .setIssuedAt(issued_at)
      .setExpirationTime(issued_at + this.lifetimeSeconds)
      .sign(await this.key)
  }

  /**
   * Issues a short-lived ticket that opens sockets. It can be part of a URL, where a token should not be. The socket closes when
   * the token behind the ticket expires or is revoked.
   */
  async issueTicket(credential: Credential, now: number): Promise<string> {
    return new SignJWT(ticketClaims(credential))
      .setProtectedHeader({ alg: this.algorithm, typ: 'JWT' })
      .setSubject(credential.user_id)
      .setAudience([TICKET_AUDIENCE])
      .setIssuedAt(now)
      .setExpirationTime(now + TICKET_SECONDS)
      .sign(await this.key)
  }

  /** The credential of a login token with a valid signature; undefined otherwise. It may have expired. */
  async verify(token: string): Promise<SessionCredential | undefined> {
    const token_hash = hashToken(token)
    const cached = this.verifiedTokens.get(token_hash)
    if (cached) return cached.expires_at > oldestSecond() ? cached : undefined
    const claims = await this.claims(token, AUDIENCE)
    if (!claims) return undefined
    const credential = { ...claims.own, token_hash, usableUntil: claims.own.expires_at }
    this.verifiedTokens.set(token_hash, credential)
    return credential
  }

  /** The same for a socket, which is opened with the token of a login or a ticket. */
  async verifyForSocket(token: string): Promise<Credential | undefined> {
    const credential = await this.verify(token)
    if (credential) return credential
    const ticket = await this.claims(token, TICKET_AUDIENCE)
    if (!ticket) return undefined
    const { user_id, expires_at } = ticket.own
    const token_id = ticket.payload['access_token_id'] as string | undefined
    if (token_id !== undefined)
      return this.hasAccessTokens ? { user_id, token_id, token_hash: '', usableUntil: expires_at } : undefined
    const tokenClaims = ticket.payload['token'] as Omit<SessionCredential, 'user_id' | 'usableUntil'>
    return { user_id, ...tokenClaims, usableUntil: Math.min(expires_at, tokenClaims.expires_at) }
  }

  private async claims(token: string, audience: string) {
    if (token.length > 4096 || !isCanonical(token)) return undefined
    try {
      const { payload, protectedHeader } = await this.verified(token, audience)
      const { sub, aud, iat, exp, auth_time = iat } = payload
      const isOurs =
        Object.keys(protectedHeader).every((name) => name === 'alg' || name === 'typ') &&
        Array.isArray(aud) &&
        aud.length === 1 &&
        isUuid(sub) &&
        isSeconds(iat) &&
        isSeconds(exp) &&
        isSeconds(auth_time)
      if (!isOurs) return undefined
      const own: Claims = { user_id: sub, issued_at: iat, expires_at: exp, logged_in_at: auth_time }
      return { own, payload }
    } catch {
      return undefined
    }
  }

  /** Tries the previous secret only if the signature does not match; any other error is final. */
  private async verified(token: string, audience: string) {
    const currentDate = new Date(oldestSecond() * 1_000)
    const requiredClaims = ['sub', 'aud', 'exp', 'iat']
    const options = { algorithms: [this.algorithm], audience, requiredClaims, currentDate }
    try {
      return await jwtVerify(token, await this.key, options)
    } catch (error) {
      if (!this.previousKey || !(error instanceof errors.JWSSignatureVerificationFailed)) throw error
      return jwtVerify(token, await this.previousKey, options)
    }
  }
}

function ticketClaims(credential: Credential) {
  if (credential.token_id !== undefined) return { access_token_id: credential.token_id }
  const { issued_at, expires_at, logged_in_at, token_hash } = credential
  return { token: { issued_at, expires_at, logged_in_at, token_hash } }
}

const oldestSecond = () => Math.floor(Date.now() / 1_000) - LOCAL_CLOCK_SECONDS

const hashToken = (token: string) => hash('sha256', token, 'base64url')

/** Whether the token has the one canonical encoding. Lenient base64 decoding accepts several: unused bits, padding, white space. */
const isCanonical = (token: string) =>
  token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)

const isUuid = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)
const isSeconds = (value: unknown): value is number => Number.isSafeInteger(value)
