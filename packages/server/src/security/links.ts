import { hash, randomBytes } from 'node:crypto'
import { Problem } from '../platform/problem.ts'
import type { RateLimits } from './rate-limits.ts'

/** The secret of an invitation or reset link: 256 random bits. Only its hash is stored. */
export const newLinkToken = () => randomBytes(32).toString('base64url')
/** No salt and no slow hash: nobody can guess 256 bits. */
export const hashOfToken = (token: string) => hash('sha256', token, 'base64url')

/**
 * The link to a page of the web client. The secret is in the fragment, which browsers do not send: it appears in no log, proxy or
 * `Referer`. Without a public URL, the path.
 */
export const linkTo = (publicUrl: string, page: 'invite' | 'reset', token: string) =>
  `${publicUrl}/app/${page}#${token}`

/** Finds what a link is for. Invalid links count against the rate limit of the address. */
export async function requireLink<T>(
  limits: RateLimits,
  address: string,
  find: () => Promise<T | undefined>,
): Promise<T> {
  const failures = limits.invalidLinks(address)
  await failures.require()
  const found = await find()
  if (found !== undefined) return found
  await failures.report(false)
  throw new Problem('link_invalid')
}
