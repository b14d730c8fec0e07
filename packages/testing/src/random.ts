import { mulberry32 } from './prng.ts'

/** Random choices that are the same for the same seed. */
export function seeded(seed: number) {
  const next = mulberry32(seed)
  const below = (n: number) => Math.floor(next() * n)
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T
  const shuffled = <T>(items: readonly T[]): T[] =>
    items
      .map((item) => ({ item, key: next() }))
      .toSorted((a, b) => a.key - b.key)
      .map(({ item }) => item)
  return { next, below, pick, shuffled }
}
export type Random = ReturnType<typeof seeded>
