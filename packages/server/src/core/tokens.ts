import { createHash } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'

const AUDIENCE = 'lockstep:auth'

export interface Claims {
  user_id: string
  /** Seconds since the epoch. */
  issued_at: number
  expires_at: number
  /** When the user last gave his password: the login that the token descends from. */
  logged_in_at: number
}

/** Signs and verifies access tokens. Only the configured algorithm is accepted, and there is no leeway. */
export class Tokens {
  private readonly key: Promise<CryptoKey>
  private readonly algorithm: string
  readonly lifetime_seconds: number

  constructor(options: { secret: string; algorithm: 'HS256' | 'HS384' | 'HS512'; lifetime_seconds: number }) {
    this.algorithm = options.algorithm
    this.lifetime_seconds = options.lifetime_seconds
    const hash = `SHA-${options.algorithm.slice(2)}`
    // Imported once: importing it for each token costs more than the signature.
    this.key = crypto.subtle.importKey('raw', Buffer.from(options.secret), { name: 'HMAC', hash }, false, [
      'sign',
      'verify',
    ])
  }

  /** `issued_at` comes from the database's clock, which also dates password changes. */
  async issue(user_id: string, issued_at: number, logged_in_at?: number): Promise<string> {
    return new SignJWT(logged_in_at === undefined ? {} : { auth_time: logged_in_at })
      .setProtectedHeader({ alg: this.algorithm, typ: 'JWT' })
      .setSubject(user_id)
      .setAudience([AUDIENCE])
      .setIssuedAt(issued_at)
      .setExpirationTime(issued_at + this.lifetime_seconds)
      .sign(await this.key)
  }

  /** The claims of a token that we signed and that has not expired; undefined for anything else. */
  async verify(token: string): Promise<Claims | undefined> {
    if (token.length > 4096) return undefined
    try {
      const { payload, protectedHeader } = await jwtVerify(token, await this.key, {
        algorithms: [this.algorithm],
        audience: AUDIENCE,
        requiredClaims: ['sub', 'aud', 'exp', 'iat'],
      })
      const { sub, aud, iat, exp, auth_time = iat } = payload
      const isOurs =
        Object.keys(protectedHeader).every((name) => name === 'alg' || name === 'typ') &&
        Array.isArray(aud) &&
        aud.length === 1 &&
        isUuid(sub) &&
        isSeconds(iat) &&
        isSeconds(exp) &&
        isSeconds(auth_time)
      return isOurs ? { user_id: sub, issued_at: iat, expires_at: exp, logged_in_at: auth_time } : undefined
    } catch {
      return undefined
    }
  }
}

/** How a token is remembered without keeping it. */
export const hashToken = (token: string) => createHash('sha256').update(token).digest('base64url')

const isUuid = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)
const isSeconds = (value: unknown): value is number => Number.isSafeInteger(value)
