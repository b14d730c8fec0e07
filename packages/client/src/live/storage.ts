import { type Kept, keptOf, later, type Pending } from './core.ts'

/** Where the queue of a board is kept while the page is away: one text for each change. */
export interface QueueStorage {
  /** The ids that begin so, in their order, with their texts. */
  list(prefix: string): [id: string, text: string][] | Promise<[id: string, text: string][]>
  put(id: string, text: string): void | Promise<void>
  remove(id: string): void | Promise<void>
}

/**
 * Keeps every pending change under an id of its own. Two tabs of a user share the place without overwriting each
 * other: should both send a change that is kept there, its key lets it happen once.
 */
export class KeptQueue {
  private readonly storage: QueueStorage | undefined
  private readonly prefix: string
  private readonly saved = new Map<string, { id: string; state: string }>()
  private count = 0

  constructor(storage: QueueStorage | undefined, user_id: string, board_id: string) {
    this.storage = storage
    this.prefix = `lockstep/${user_id}/${board_id}/`
  }

  /** Of the changes that were stored or found here. */
  get keys(): string[] {
    return [...this.saved.keys()]
  }

  async load(): Promise<Kept[]> {
    const kept: Kept[] = []
    for (const [id, text] of await this.list()) {
      try {
        const each = JSON.parse(text) as Kept
        this.saved.set(each.key, { id, state: stateOf(each, false) })
        // Only the first one is stored with its newest base, and those behind it need at least the same.
        kept.push({ ...each, base: later(each.base, kept.at(-1)?.base) })
      } catch {
        // What cannot be read is left where it is.
      }
    }
    return kept
  }

  private async list(): Promise<[id: string, text: string][]> {
    try {
      return (await this.storage?.list(this.prefix)) ?? []
    } catch {
      return []
    }
  }

  /** Brings the place in line with what is pending. A place that fails costs no more than itself. */
  save(pending: readonly Pending[]) {
    const { storage } = this
    if (!storage) return
    const keys = new Set(pending.map(({ key }) => key))
    const first = pending.find(({ position }) => !position)
    for (const operation of pending) {
      const { key, at } = operation
      const known = this.saved.get(key)
      const state = stateOf(operation, operation === first)
      if (known?.state === state) continue
      // Ids sort as the changes were made.
      const id = known?.id ?? `${this.prefix}${at}-${String(this.count++).padStart(6, '0')}-${key}`
      this.saved.set(key, { id, state })
      attempt(() => storage.put(id, JSON.stringify(keptOf(operation))))
    }
    // Last: those that are left must know what the removed ones did, also when the page ends in between.
    for (const [key, { id }] of this.saved) {
      if (keys.has(key)) continue
      this.saved.delete(key)
      attempt(() => storage.remove(id))
    }
  }
}

/** The parts of a change that differ while it waits. The base of every one grows with each change before it: only the first is written again. */
const stateOf = ({ attempts, base: { epoch, seq }, position }: Kept, isFirst: boolean) =>
  `${attempts} ${!position} ${isFirst ? `${epoch}.${seq}` : ''}`

function attempt(work: () => void | Promise<void>) {
  try {
    void Promise.resolve(work()).catch(() => {})
  } catch {
    // Full, or forbidden: the queue lives on in memory.
  }
}

interface TextStore {
  readonly length: number
  key(i: number): string | null
  getItem(id: string): string | null
  setItem(id: string, text: string): void
  removeItem(id: string): void
}

/** The browser's `localStorage` as the place of the queue. */
export const localQueue = (store: TextStore): QueueStorage => ({
  list: (prefix) =>
    Array.from({ length: store.length }, (_, i) => store.key(i) ?? '')
      .filter((id) => id.startsWith(prefix))
      .sort()
      .map((id) => [id, store.getItem(id) ?? '']),
  put: (id, text) => store.setItem(id, text),
  remove: (id) => store.removeItem(id),
})
