import { readdir, readFile } from 'node:fs/promises'

/** The folder with the migrations of this version. */
export const FOLDER = new URL('../../../migrations/', import.meta.url)

/** Expand and contract: a migration adds to the schema, moves data, or removes what no running version uses. */
export type MigrationPhase = 'expand' | 'migrate' | 'contract'
/** In one transaction, without one (for `concurrently`), or a few rows at a time. */
export type MigrationMode = 'in a transaction' | 'no transaction' | 'in batches'

export interface MigrationHeader {
  phase: MigrationPhase
  mode: MigrationMode
  /** Only versions that include this migration can run after the removal. Null: every version can. */
  needs: string | null
  /** Why the removal is safe. */
  because: string | null
}
export interface Migration extends MigrationHeader {
  name: string
  text: string
}

const NOTHING = 'nothing'

/**
 * Reads the comments at the top of a migration: `-- phase: expand, no transaction`, and for a removal `-- needs:` and
 * `-- because:`. Undefined without a phase.
 */
export function readHeader(text: string): MigrationHeader | undefined {
  const [, phase, mode = 'in a transaction'] =
    /^-- phase: (expand|migrate|contract)(?:, (no transaction|in batches))?$/m.exec(text) ?? []
  if (phase === undefined) return undefined
  const needs = /^-- needs: (\w+)$/m.exec(text)?.[1] ?? null
  const because = /^-- because: (.+)$/m.exec(text)?.[1] ?? null
  return {
    phase: phase as MigrationPhase,
    mode: mode as MigrationMode,
    needs: needs === NOTHING ? null : needs,
    because,
  }
}
/** The baseline has no header. */
const baseline: MigrationHeader = { phase: 'expand', mode: 'in a transaction', needs: null, because: null }

/** Reads the SQL files of a folder, in the order of their names. */
export async function readMigrations(folder = FOLDER): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort()
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(new URL(file, folder), 'utf8')
      return { name: file.slice(0, -4), text, ...(readHeader(text) ?? baseline) }
    }),
  )
}

/** The two statements of a migration in batches: one changes a few rows, one finds the remaining rows. */
export function readBatches(text: string): { batch: string; left: string } | undefined {
  const [batch, left, ...more] = text.split(/^-- left$/m)
  return batch && left && more.length === 0 ? { batch, left } : undefined
}

/** The index that a migration creates concurrently. An interrupted migration leaves it behind, marked as invalid. */
export const concurrentIndexOf = (text: string): string | undefined =>
  /\bcreate\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(\w+)/i.exec(text)?.[1]
