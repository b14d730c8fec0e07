import { readdir, readFile } from 'node:fs/promises'

/** The migrations of this version. */
export const FOLDER = new URL('../../../migrations/', import.meta.url)

/** What a migration does to the versions that run beside it: makes room, moves data, or takes away what nobody uses. */
export type Phase = 'expand' | 'migrate' | 'contract'
/** How it runs: in one transaction, without one (what PostgreSQL does concurrently), or a few rows at a time. */
export type Mode = 'in a transaction' | 'no transaction' | 'in batches'

export interface Header {
  phase: Phase
  mode: Mode
  /** The migration that a version must bring along to run after this one. Null: every version can. */
  needs: string | null
  /** What makes it safe to take something away. */
  because: string | null
}
export interface Migration extends Header {
  name: string
  text: string
}

const NOTHING = 'nothing'

/**
 * What the comments at the top of a migration say: `-- phase: expand, no transaction`, and for one that takes something
 * away `-- needs:` and `-- because:`. Undefined without a phase.
 */
export function readHeader(text: string): Header | undefined {
  const [, phase, mode = 'in a transaction'] =
    /^-- phase: (expand|migrate|contract)(?:, (no transaction|in batches))?$/m.exec(text) ?? []
  if (phase === undefined) return undefined
  const needs = /^-- needs: (\w+)$/m.exec(text)?.[1] ?? null
  const because = /^-- because: (.+)$/m.exec(text)?.[1] ?? null
  return { phase: phase as Phase, mode: mode as Mode, needs: needs === NOTHING ? null : needs, because }
}
/** The first migrations are older than the phases: they made the tables. */
const first: Header = { phase: 'expand', mode: 'in a transaction', needs: null, because: null }

/** The plain SQL files of a folder, in the order of their names. */
export async function readMigrations(folder = FOLDER): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort()
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(new URL(file, folder), 'utf8')
      return { name: file.slice(0, -4), text, ...(readHeader(text) ?? first) }
    }),
  )
}

/** The two statements of a migration in batches: one that changes a few rows, and one that finds what is left. */
export function readBatches(text: string): { batch: string; left: string } | undefined {
  const [batch, left, ...more] = text.split(/^-- left$/m)
  return batch && left && more.length === 0 ? { batch, left } : undefined
}

/** The index that a migration makes beside the requests. When it is interrupted it leaves one that is not valid. */
export const indexMadeBy = (text: string): string | undefined =>
  /\bcreate\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(\w+)/i.exec(text)?.[1]
