import { LRUCache } from 'lru-cache'
import type { AccessRequest } from './authorize.ts'

const MAX_ENTRIES = 50_000

/**
 * Caches the board of each resource that was changed recently, and who was authorized to change each board. A write by such a user
 * to such a resource needs no access check to find its board; the check under the board lock decides alone. A write that is
 * rejected removes the entries.
 */
export class RecentAccess {
  private readonly boards = new LRUCache<string, string>({ max: MAX_ENTRIES })
  private readonly writers = new LRUCache<string, true>({ max: MAX_ENTRIES })

  boardOf(request: AccessRequest): string | undefined {
    const board_id = this.boards.get(resourceKey(request))
    return board_id !== undefined && this.writers.get(writerKey(request, board_id)) ? board_id : undefined
  }

  add(request: AccessRequest, board_id: string) {
    this.boards.set(resourceKey(request), board_id)
    this.writers.set(writerKey(request, board_id), true)
  }

  remove(request: AccessRequest) {
    const board_id = this.boards.get(resourceKey(request))
    this.boards.delete(resourceKey(request))
    if (board_id !== undefined) this.writers.delete(writerKey(request, board_id))
  }
}

const resourceKey = ({ access, targetId }: Pick<AccessRequest, 'access' | 'targetId'>) => `${access?.on} ${targetId}`
const writerKey = ({ credential }: AccessRequest, board_id: string) => `${credential.user_id} ${board_id}`
