import { LRUCache } from 'lru-cache'
import type { Approach } from './access.ts'

const MAX_WAYS = 20_000

/**
 * Which board lies behind what somebody changed a moment ago. A change that knows its board can go and wait for its lock
 * without looking first. It decides nothing: who may is looked at under the lock, and whoever is refused there loses the way.
 */
export class KnownWays {
  private readonly boards = new LRUCache<string, string>({ max: MAX_WAYS })

  get(approach: Approach): string | undefined {
    return approach.access && this.boards.get(nameOf(approach))
  }

  remember(approach: Approach, board_id: string) {
    this.boards.set(nameOf(approach), board_id)
  }

  forget(approach: Approach) {
    this.boards.delete(nameOf(approach))
  }
}

const nameOf = ({ credential, access, target_id }: Approach) => `${credential.user_id} ${access?.on} ${target_id}`
