import { diff3Merge } from 'node-diff3'

/** Three-way merge by lines; `undefined` if both sides changed the same lines. */
export function mergeText(base: string, mine: string, theirs: string): string | undefined {
  const [a, o, b] = [mine, base, theirs].map((text) => text.split('\n')) as [string[], string[], string[]]
  const lines: string[] = []
  for (const { ok } of diff3Merge(a, o, b, { excludeFalseConflicts: true })) {
    if (!ok) return undefined
    lines.push(...ok)
  }
  return lines.join('\n')
}
