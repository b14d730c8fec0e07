import { laterOf, type Pending, type QueuedChange, toQueued } from './core.ts'

/** Persistent storage of a board's queue: one text per change. */
export interface QueueStorage {
  /** The entries whose id has this prefix, sorted by id. */
  list(prefix: string): [id: string, text: string][] | Promise<[id: string, text: string][]>
  put(id: string, text: string): void | Promise<void>
  remove(id: string): void | Promise<void>
}

/**
 * Stores every pending change under its own id, so that tabs do not overwrite each other. If two tabs send the same
 * change, its idempotency key makes the server apply it once.
 */
export class StoredQueue {
  readonly #storage: QueueStorage
  readonly #prefix: string
  readonly #saved = new Map<string, { id: string; state: string }>()
  #count = 0

  constructor(storage: QueueStorage, userId: string, boardId: string) {
    this.#storage = storage
    this.#prefix = `lockstep/${userId}/${boardId}/`
  }

  /** Keys of the stored changes. */
  get keys(): string[] {
    return [...this.#saved.keys()]
  }

  async load(): Promise<QueuedChange[]> {
    const queued: QueuedChange[] = []
    for (const [id, text] of await this.#list()) {
      try {
        const each = JSON.parse(text) as QueuedChange
        this.#saved.set(each.key, { id, state: stateOf(each, false) })
        // Only the first change is stored with its current base; later ones need at least the same.
        queued.push({ ...each, base: laterOf(each.base, queued.at(-1)?.base) })
      } catch {
        // Leave unreadable entries alone.
      }
    }
    return queued
  }

  async #list(): Promise<[id: string, text: string][]> {
    try {
      return await this.#storage.list(this.#prefix)
    } catch {
      return []
    }
  }

  /** Updates the storage to match the pending changes. Storage failures are ignored. */
  save(pending: readonly Pending[]) {
    const storage = this.#storage
    const keys = new Set(pending.map(({ key }) => key))
    const first = pending.find(({ position }) => !position)
    for (const operation of pending) {
      const { key, at } = operation
      const known = this.#saved.get(key)
      const state = stateOf(operation, operation === first)
      if (known?.state === state) continue
      // Ids sort in the order of the changes.
      const id = known?.id ?? `${this.#prefix}${at}-${String(this.#count++).padStart(6, '0')}-${key}`
      this.#saved.set(key, { id, state })
      attempt(() => storage.put(id, JSON.stringify(toQueued(operation))))
    }
    // Remove last: if the page is closed in between, the stored bases of the remaining changes are already up to date.
    for (const [key, { id }] of this.#saved) {
      if (keys.has(key)) continue
      this.#saved.delete(key)
      attempt(() => storage.remove(id))
    }
  }
}

/**
 * The mutable parts of a stored change. Every base advances with each confirmed change, but only the first one is
 * written again.
 */
const stateOf = ({ attempts, base: { epoch, seq }, position }: QueuedChange, isFirst: boolean) =>
  `${attempts} ${!position} ${isFirst ? `${epoch}.${seq}` : ''}`

function attempt(work: () => void | Promise<void>) {
  try {
    void Promise.resolve(work()).catch(() => {})
  } catch {
    // Storage is full or forbidden: the queue still works in memory.
  }
}

interface TextStore {
  readonly length: number
  key(i: number): string | null
  getItem(id: string): string | null
  setItem(id: string, text: string): void
  removeItem(id: string): void
}

/** Stores the queue in the browser's `localStorage`. */
export const localQueue = (store: TextStore) => ({
  list: (prefix: string): [id: string, text: string][] =>
    Array.from({ length: store.length }, (_, i) => store.key(i) ?? '')
      .filter((id) => id.startsWith(prefix))
      .sort()
      .map((id) => [id, store.getItem(id) ?? '']),
  put: (id: string, text: string) => store.setItem(id, text),
  remove: (id: string) => store.removeItem(id),
})
