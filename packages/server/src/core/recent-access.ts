import { LRUCache } from 'lru-cache'
import type { AccessRequest } from './authorize.ts'

const MAX_ENTRIES = 20_000

/**
 * Caches the board of each resource that a user changed recently. A repeated write needs no access check to find its board; the
 * check under the board lock decides alone. A write that this check rejects removes the entry.
 */
export class RecentAccess {
  private readonly boards = new LRUCache<string, string>({ max: MAX_ENTRIES })

  boardOf(request: AccessRequest): string | undefined {
    return this.boards.get(keyOf(request))
  }

  add(request: AccessRequest, board_id: string) {
    this.boards.set(keyOf(request), board_id)
  }

  remove(request: AccessRequest) {
    this.boards.delete(keyOf(request))
  }
}

const keyOf = ({ credential, access, targetId }: AccessRequest) => `${credential.user_id} ${access?.on} ${targetId}`
