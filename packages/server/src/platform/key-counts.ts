/** A counter for each key. Counters at zero are deleted. */
export class KeyCounts {
  private readonly counts = new Map<string, number>()

  of(key: string): number {
    return this.counts.get(key) ?? 0
  }

  add(key: string, amount = 1) {
    const count = this.of(key) + amount
    if (count > 0) this.counts.set(key, count)
    else this.counts.delete(key)
  }
}
