import { hash } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'

const AUDIENCE = 'lockstep:auth'
const TICKET_AUDIENCE = 'lockstep:socket'
export const TICKET_SECONDS = 30
/**
 * Expiry is judged by the database's clock, when the user is looked up. By the clock of this machine only what expired so
 * long ago is refused, without asking the database.
 */
const LOCAL_CLOCK_SECONDS = 86_400
/** Tokens whose signature need not be computed again: those of so many people who were here last. */
const MAX_KNOWN = 20_000

interface Claims {
  user_id: string
  /** Seconds since the epoch. */
  issued_at: number
  expires_at: number
  /** When the user last gave his password: the login that the token descends from. */
  logged_in_at: number
}

/** What a request or a socket shows to prove who it is. Whether that user still may is for the database to say. */
export interface Credential extends Claims {
  /** How the token is remembered without keeping it. */
  token_hash: string
  /** When it can no longer be shown, in seconds since the epoch: when the token ends, or the ticket that stands for it. */
  usableUntil: number
}

interface TokenSettings {
  secret: string
  /** Another secret whose signatures count too, while one takes the place of the other; empty for none. */
  previousSecret?: string
  algorithm: 'HS256' | 'HS384' | 'HS512'
  lifetimeSeconds: number
}

/** Signs and verifies access tokens. Only the configured algorithm is accepted. Expiry is judged by `approachBoard`. */
export class Tokens {
  private readonly key: Promise<CryptoKey>
  private readonly otherKey: Promise<CryptoKey> | undefined
  private readonly algorithm: string
  /** By the hash of the token, so that nothing in memory can be used to log in. */
  private readonly known = new LRUCache<string, Credential>({ max: MAX_KNOWN })
  readonly lifetimeSeconds: number

  constructor({ secret, previousSecret = '', algorithm, lifetimeSeconds }: TokenSettings) {
    this.algorithm = algorithm
    this.lifetimeSeconds = lifetimeSeconds
    const hash = `SHA-${algorithm.slice(2)}`
    // Imported once: importing it for each token costs more than the signature.
    const keyOf = (text: string) =>
      crypto.subtle.importKey('raw', Buffer.from(text), { name: 'HMAC', hash }, false, ['sign', 'verify'])
    this.key = keyOf(secret)
    this.otherKey = previousSecret === '' ? undefined : keyOf(previousSecret)
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
   * A pass to open sockets with, for half a minute: it can stand in an address, where a token should not. The socket lives
   * and dies with the token behind it.
   */
  async issueTicket(
    { user_id, issued_at, expires_at, logged_in_at, token_hash }: Credential,
    now: number,
  ): Promise<string> {
    return new SignJWT({ token: { issued_at, expires_at, logged_in_at, token_hash } })
      .setProtectedHeader({ alg: this.algorithm, typ: 'JWT' })
      .setSubject(user_id)
      .setAudience([TICKET_AUDIENCE])
      .setIssuedAt(now)
      .setExpirationTime(now + TICKET_SECONDS)
      .sign(await this.key)
  }

  /** The credential of an access token that we signed; undefined for anything else. It may have expired. */
  async verify(token: string): Promise<Credential | undefined> {
    const token_hash = hashToken(token)
    const known = this.known.get(token_hash)
    if (known) return known.expires_at > oldestSecond() ? known : undefined
    const claims = await this.claims(token, AUDIENCE)
    if (!claims) return undefined
    const credential = { ...claims.own, token_hash, usableUntil: claims.own.expires_at }
    this.known.set(token_hash, credential)
    return credential
  }

  /** The same for what opens a socket: an access token or a ticket. */
  async verifyForSocket(token: string): Promise<Credential | undefined> {
    const credential = await this.verify(token)
    if (credential) return credential
    const ticket = await this.claims(token, TICKET_AUDIENCE)
    if (!ticket) return undefined
    const behind = ticket.payload['token'] as Omit<Credential, 'user_id' | 'usableUntil'>
    const { user_id, expires_at } = ticket.own
    return { user_id, ...behind, usableUntil: Math.min(expires_at, behind.expires_at) }
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

  /** Only a signature that is not ours by one secret is tried with the other: whatever else is wrong stays wrong. */
  private async verified(token: string, audience: string) {
    const currentDate = new Date(oldestSecond() * 1_000)
    const requiredClaims = ['sub', 'aud', 'exp', 'iat']
    const options = { algorithms: [this.algorithm], audience, requiredClaims, currentDate }
    try {
      return await jwtVerify(token, await this.key, options)
    } catch (error) {
      if (!this.otherKey || !(error instanceof errors.JWSSignatureVerificationFailed)) throw error
      return jwtVerify(token, await this.otherKey, options)
    }
  }
}

const oldestSecond = () => Math.floor(Date.now() / 1_000) - LOCAL_CLOCK_SECONDS

const hashToken = (token: string) => hash('sha256', token, 'base64url')

/** One spelling for each token: base64 alone would allow several, in its last bits, its padding and its white space. */
const isCanonical = (token: string) =>
  token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)

const isUuid = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)
const isSeconds = (value: unknown): value is number => Number.isSafeInteger(value)
