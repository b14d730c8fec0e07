import { createHmac, hkdfSync } from 'node:crypto'

/**
 * Hides accounts in the log: the same account always has the same hash, so that an attack on one account is visible, and without
 * the secret nobody can tell which account it is.
 */
export function accountHasher(secret: string): (account: string) => string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'lockstep accounts in the log', 32))
  return (account) => createHmac('sha256', key).update(account).digest('base64url').slice(0, 22)
}
