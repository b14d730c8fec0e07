import type { QueueStorage } from '../../../client/src/live/storage.ts'

/** Queue storage in memory that survives a simulated reload. */
export function memoryQueue(): QueueStorage & { texts: Map<string, string> } {
  const texts = new Map<string, string>()
  return {
    texts,
    list: (prefix) => [...texts].filter(([id]) => id.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1)),
    put: (id, text) => void texts.set(id, text),
    remove: (id) => void texts.delete(id),
  }
}
