import { KeyCounts } from './key-counts.ts'
import { Problem } from './problem.ts'

/** The share of an address, in shares of a user: several users can be behind one router. */
const USERS_OF_ADDRESS = 4

/**
 * Counts how much of a limited resource each key (a user or an address) holds. While less than half of the resource is in use,
 * a key may take any amount. Above that, a key gets no more than its share.
 */
export class FairShare {
  private readonly max: number
  private readonly share: number
  private readonly held = new KeyCounts()
  private total = 0

  constructor(max: number, share: number) {
    this.max = max
    this.share = share
  }

  /** Returns the release function, or undefined when nothing is left for this key. A key that holds nothing may exceed its share once. */
  claim(key: string, amount = 1): (() => void) | undefined {
    const own = this.held.of(key)
    const isOverMax = this.total > 0 && this.total + amount > this.max
    const isOverShare = own > 0 && own + amount > this.share && this.total + amount > this.max / 2
    if (isOverMax || isOverShare) return undefined
    this.total += amount
    this.held.add(key, amount)
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.total -= amount
      this.held.add(key, -amount)
    }
  }
}

/** Counts by user and by address, so that several accounts of one client get no more than the share of their address. */
export class UserAndAddressShare {
  private readonly users: FairShare
  private readonly addresses: FairShare

  /** `share` is the share of a user. */
  constructor(max: number, share: number) {
    this.users = new FairShare(max, share)
    this.addresses = new FairShare(max, share * USERS_OF_ADDRESS)
  }

  /** Like `FairShare.claim`. */
  claim(user_id: string, address: string, amount = 1): (() => void) | undefined {
    const releaseUser = this.users.claim(user_id, amount)
    const releaseAddress = releaseUser && this.addresses.claim(address, amount)
    if (!releaseAddress) {
      releaseUser?.()
      return undefined
    }
    return () => {
      releaseUser()
      releaseAddress()
    }
  }
}

/** Rejects with 503 when the claim of a share failed. */
export function requireShare(release: (() => void) | undefined): () => void {
  if (!release) throw new Problem('overloaded')
  return release
}
