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
  /** Passwords that are refused, in lower case, and with them the user's own names; undefined when all are allowed. */
  common?: ReadonlySet<string> | undefined
}

const kinds = {
  lower: [/\p{Ll}/u, 'a lower-case letter'],
  upper: [/\p{Lu}/u, 'an upper-case letter'],
  digit: [/\p{Nd}/u, 'a digit'],
  symbol: [/[^\p{L}\p{Nd}]/u, 'a character that is neither a letter nor a digit'],
} as const

const AT_ONCE = 2
const WAIT_MS = 10_000
/** More than are hashed in that time. */
const MAX_WAITING = 1_000
/** How much work a hash is: memory in KiB, and passes over it. */
export interface HashCost {
  memoryCost: number
  timeCost: number
  parallelism: number
}
/** As OWASP recommends. Argon2id is the library's default. */
export const HASH_COST: HashCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/**
 * Hashes and checks passwords, two at a time: each takes a thread and 19 MiB, and anybody can ask for one without a
 * credential. Who waits too long is told to come back.
 */
export class Passwords {
  private readonly rules: PasswordRules
  private readonly cost: HashCost
  private readonly semaphore: Semaphore
  /** What the password of an unknown user is compared with, so that it takes as long as any other. */
  private readonly decoy: Promise<string>

  /** `onWait` is called with the time each password waited. */
  constructor(rules: PasswordRules, onWait?: (seconds: number) => void, cost = HASH_COST) {
    this.rules = rules
    this.cost = cost
    this.decoy = hash('an unknown user has no password', cost)
    const reject = () => new Problem('passwords_busy', { retry_after_seconds: 5 })
    this.semaphore = new Semaphore(AT_ONCE, { maxWaiting: MAX_WAITING, waitMs: WAIT_MS, reject }, onWait)
  }

  /** How many wait. */
  get waiting(): number {
    return this.semaphore.waiting
  }

  /** Refuses a new password that breaks a rule, and says which. */
  requireStrong(password: string, user?: { email: string; username: string }) {
    const { minLength, maxLength, requires, common } = this.rules
    const length = Array.from(password).length
    const refuse = (rule: string) => new Problem('password_refused', { detail: `The password must ${rule}.` })
    if (length < minLength) throw refuse(`have at least ${minLength} character${minLength === 1 ? '' : 's'}`)
    if (length > maxLength) throw refuse(`have at most ${maxLength} characters`)
    for (const kind of requires) if (!kinds[kind][0].test(password)) throw refuse(`contain ${kinds[kind][1]}`)
    if (common?.has(password.toLowerCase()))
      throw refuse('be less common: this one is among the first that are guessed')
    if (common && user && isOwnName(password, user)) throw refuse('differ from the username and the e-mail address')
  }

  /** `address` is where the request came from: each gets its turn, so a flood from one does not delay the others. */
  hash(password: string, address?: string): Promise<string> {
    return this.semaphore.run(() => hash(password, this.cost), { key: keyOf(address) })
  }

  /**
   * Without a hash the answer is no, and takes just as long. Guesses are judged when their turn has come: of many that
   * are sent at once, the later ones know how the first went.
   */
  async isRight(
    hashed_password: string | undefined,
    password: string,
    { failures, address }: { failures?: FailureCount; address?: string } = {},
  ): Promise<boolean> {
    const against = hashed_password ?? (await this.decoy)
    const check = async () => {
      await failures?.require()
      const isEqual = await verify(against, password)
      const isRight = isEqual && hashed_password !== undefined
      await failures?.report(isRight)
      return isRight
    }
    return this.semaphore.run(check, { key: keyOf(address) })
  }
}

const keyOf = (address: string | undefined) => (address === undefined ? '' : networkOf(address))

const isOwnName = (password: string, { email, username }: { email: string; username: string }) =>
  [username, email, email.split('@')[0] as string].some((name) => nameKeyOf(name) === nameKeyOf(password))
