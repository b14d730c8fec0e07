import { hash, verify } from '@node-rs/argon2'
import { networkOf } from '../platform/client-address.ts'
import { Problem } from '../platform/problem.ts'
import { Semaphore } from '../platform/semaphore.ts'
import type { FailureCount } from '../security/rate-limits.ts'
import { keyOf as nameKeyOf } from '../users/user-queries.ts'

export interface PasswordRules {
  minLength: number
  maxLength: number
  requires: readonly ('lower' | 'upper' | 'digit' | 'symbol')[]
  /** Rejected passwords, in lower case; the user's own names are rejected too. Undefined when all are allowed. */
  common?: ReadonlySet<string> | undefined
}

const kinds = {
  lower: [/\p{Ll}/u, 'a lower-case letter'],
  upper: [/\p{Lu}/u, 'an upper-case letter'],
  digit: [/\p{Nd}/u, 'a digit'],
  symbol: [/[^\p{L}\p{Nd}]/u, 'a character that is neither a letter nor a digit'],
} as const

const MAX_CONCURRENT = 2
const WAIT_MS = 10_000
/** More than can be hashed in that time. */
const MAX_WAITING = 1_000
/** Cost of a hash: memory in KiB, and passes over it. */
export interface HashCost {
  memoryCost: number
  timeCost: number
  parallelism: number
}
/** The recommendation of OWASP for Argon2id, the library's default. */
export const HASH_COST: HashCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/**
 * Hashes and verifies passwords, two at a time, because each takes a thread and 19 MiB and needs no credential. A request that
 * waits too long is rejected with 503.
 */
export class Passwords {
  private readonly rules: PasswordRules
  private readonly cost: HashCost
  private readonly semaphore: Semaphore
  /** Constant time: the password of an unknown user is verified against this hash. */
  private readonly decoy: Promise<string>

  /** `onWait` is called with the time each password waited. */
  constructor(rules: PasswordRules, onWait?: (seconds: number) => void, cost = HASH_COST) {
    this.rules = rules
    this.cost = cost
    this.decoy = hash('an unknown user has no password', cost)
    const reject = () => new Problem('passwords_busy', { retryAfterSeconds: 5 })
    this.semaphore = new Semaphore(MAX_CONCURRENT, { maxWaiting: MAX_WAITING, waitMs: WAIT_MS, reject }, onWait)
  }

  /** How many passwords wait. */
  get waiting(): number {
    return this.semaphore.waiting
  }

  /** Rejects a new password that breaks a rule. The detail says which. */
  requireStrong(password: string, user?: { email: string; username: string }) {
    const { minLength, maxLength, requires, common } = this.rules
    const length = Array.from(password).length
    const reject = (rule: string) => new Problem('password_refused', { detail: `The password must ${rule}.` })
    if (length < minLength) throw reject(`have at least ${minLength} character${minLength === 1 ? '' : 's'}`)
    if (length > maxLength) throw reject(`have at most ${maxLength} characters`)
    for (const kind of requires) if (!kinds[kind][0].test(password)) throw reject(`contain ${kinds[kind][1]}`)
    if (common?.has(password.toLowerCase()))
      throw reject('be less common: this one is among the first that attackers try')
    if (common && user && isOwnName(password, user)) throw reject('differ from the username and the e-mail address')
  }

  /** `address` is that of the client. Addresses are served fairly, so that a flood from one does not delay others. */
  hash(password: string, address?: string): Promise<string> {
    return this.semaphore.run(() => hash(password, this.cost), { key: keyOf(address) })
  }

  /**
   * Verifies a password, in constant time also without a hash (false). The limit on failures is checked inside the semaphore,
   * so that of many concurrent guesses the later ones count the earlier ones.
   */
  async isCorrect(
    hashed_password: string | undefined,
    password: string,
    { failures, address }: { failures?: FailureCount; address?: string } = {},
  ): Promise<boolean> {
    const hashOrDecoy = hashed_password ?? (await this.decoy)
    const check = async () => {
      await failures?.require()
      const isMatch = await verify(hashOrDecoy, password)
      const isCorrect = isMatch && hashed_password !== undefined
      await failures?.report(isCorrect)
      return isCorrect
    }
    return this.semaphore.run(check, { key: keyOf(address) })
  }
}

const keyOf = (address: string | undefined) => (address === undefined ? '' : networkOf(address))

const isOwnName = (password: string, { email, username }: { email: string; username: string }) =>
  [username, email, email.split('@')[0] as string].some((name) => nameKeyOf(name) === nameKeyOf(password))
