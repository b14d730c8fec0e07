import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Scope } from '@lockstep/contract/operation'
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { type Database, statement } from '../database/database.ts'
import type { RateLimits } from './rate-limits.ts'
import type { TokenCredential } from './tokens.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 30
const CHECKSUM_LENGTH = 6
const FORM = new RegExp(`^ls[pb]_([${ALPHABET}]{${RANDOM_LENGTH}})([${ALPHABET}]{${CHECKSUM_LENGTH}})$`)
/** Larger bytes are skipped, because not every character would be equally likely. */
const FAIR_BYTES = 256 - (256 % ALPHABET.length)

/** Whether a token is for all boards of its user, or for one. */
export type TokenKind = 'personal' | 'board'
const prefixes: Record<TokenKind, string> = { personal: 'lsp_', board: 'lsb_' }

/** A new token: its prefix, 30 random characters (178 bits), and a checksum, so that a typo needs no look-up. */
export function newAccessToken(kind: TokenKind): string {
  let random = ''
  while (random.length < RANDOM_LENGTH)
    for (const byte of randomBytes(RANDOM_LENGTH))
      if (byte < FAIR_BYTES && random.length < RANDOM_LENGTH) random += ALPHABET[byte % ALPHABET.length]
  return prefixes[kind] + random + checksumOf(random)
}

function checksumOf(random: string): string {
  let rest = crc32(random)
  let text = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    text = ALPHABET[rest % ALPHABET.length] + text
    rest = Math.floor(rest / ALPHABET.length)
  }
  return text
}

/** Tells an access token from the token of a login, which is a JWT. */
export const isAccessToken = (token: string) => /^ls[pb]_/.test(token)

export function hasValidForm(token: string): boolean {
  const [, random, checksum] = FORM.exec(token) ?? []
  return random !== undefined && checksumOf(random) === checksum
}

/** What is stored instead of the token. */
export const hashAccessToken = (token: string) => createHash('sha256').update(token).digest()

/** What never changes about a token. It does not say that the token is valid. */
interface KnownToken {
  id: string
  user_id: string
  scope: Scope
  kind: TokenKind
}
const find = statement(
  'find_access_token',
  (args: { hash: Buffer }) => sql<KnownToken>`
    select token.id, token.user_id, token.scope, case when token.board_id is null then 'personal' else 'board' end as kind
    from access_tokens token join users person on person.id = token.user_id and person.is_active
    where token.hash = ${args.hash} and (token.expires_at is null or token.expires_at > clock_timestamp())`,
)
const markUsed = statement(
  'mark_access_token_used',
  (args: { id: string }) => sql`
    update access_tokens set last_used_at = clock_timestamp()
    where id = ${args.id} and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')`,
)

const MAX_KNOWN = 20_000
const USE_MS = 60_000

interface AccessTokenDeps {
  database: Database
  limits: RateLimits
  /** Called for each request with a known token. */
  onRequest: (token: Pick<KnownToken, 'scope' | 'kind'>) => void
}

/**
 * Finds the user of an access token. Only the connection between hash, token and user is cached; whether the token is valid is
 * read by the access statement of every request.
 */
export class AccessTokens {
  private readonly deps: AccessTokenDeps
  private readonly known = new LRUCache<string, KnownToken>({ max: MAX_KNOWN })
  /** When the use of a token was last written, or is about to be. */
  private readonly usedAt = new LRUCache<string, number>({ max: MAX_KNOWN })
  private readonly unwritten = new Set<string>()
  private isWriting = false

  constructor(deps: AccessTokenDeps) {
    this.deps = deps
  }

  /** Undefined when the token is malformed or unknown. Throws 429 when the address has sent too many unknown tokens. */
  async verify(token: string, address: string): Promise<TokenCredential | undefined> {
    if (!hasValidForm(token)) return undefined
    const hash = hashAccessToken(token)
    const token_hash = hash.toString('base64url')
    const found = this.known.get(token_hash) ?? (await this.lookUp(hash, address))
    if (!found) return undefined
    this.known.set(token_hash, found)
    this.deps.onRequest(found)
    return { user_id: found.user_id, token_id: found.id, token_hash, usableUntil: Number.POSITIVE_INFINITY }
  }

  private async lookUp(hash: Buffer, address: string): Promise<KnownToken | undefined> {
    const { database, limits } = this.deps
    const failures = limits.unknownTokens(address)
    await failures.require()
    const [found] = await database.run(find, { hash })
    if (!found) await failures.report(false)
    return found
  }

  /** A token was rejected: the next request with it looks it up again, and counts as unknown if it is gone. */
  forget(token_hash: string) {
    this.known.delete(token_hash)
  }

  /** Notes the use of a token. Writes it at most once a minute, without being awaited, one statement at a time. */
  markUsed(token_id: string) {
    const now = performance.now()
    if (now - (this.usedAt.get(token_id) ?? Number.NEGATIVE_INFINITY) < USE_MS) return
    this.usedAt.set(token_id, now)
    this.unwritten.add(token_id)
    if (!this.isWriting) void this.writeUses()
  }

  private async writeUses() {
    this.isWriting = true
    for (const id of this.unwritten) {
      this.unwritten.delete(id)
      // A lost note does no harm: the time is for people, and decides nothing.
      await this.deps.database.run(markUsed, { id }).catch(() => {})
    }
    this.isWriting = false
  }
}
