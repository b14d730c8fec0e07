import { NotRun, type Row, rows } from './rows.ts'
import type { Service } from './service.ts'

export interface Result extends Pick<Row, 'id' | 'sentence' | 'standing'> {
  outcome: 'passed' | 'failed' | 'not run' | 'not visible'
  /** What failed, or why it was not run. */
  reason?: string
}

const ROWS_AT_ONCE = 16
const PATIENCE_MS = 60_000
/** A row that waits: two heartbeats, or a presence that runs out. */
const LONG_PATIENCE_MS = 150_000

/** Tries every row: those that wait from the beginning on, beside the others; those that judge the whole in the end. */
export async function runRows(service: Service, { quick }: { quick: boolean }): Promise<Result[]> {
  const results = new Map<Row, Result>()
  const run = async (row: Row) => void results.set(row, await tryRow(row, service, quick))
  const waiting = Promise.all(rows.filter((row) => row.waits).map(run))
  const queue = rows.filter((row) => !row.waits && !row.closing)
  const worker = async () => {
    for (let row = queue.shift(); row; row = queue.shift()) await run(row)
  }
  await Promise.all(Array.from({ length: ROWS_AT_ONCE }, worker))
  await waiting
  await Promise.all(rows.filter((row) => row.closing).map(run))
  return rows.map((row) => results.get(row) as Result)
}

async function tryRow(row: Row, service: Service, quick: boolean): Promise<Result> {
  const { id, sentence, standing, check, why = '' } = row
  const result = { id, sentence, standing }
  if (!check) return { ...result, outcome: 'not visible', reason: why }
  if (quick && row.waits) return { ...result, outcome: 'not run', reason: 'it waits: run without --quick' }
  const patienceMs = row.waits ? LONG_PATIENCE_MS : PATIENCE_MS
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It took longer than ${patienceMs / 1_000} s`)), patienceMs)
  })
  try {
    await Promise.race([check(service), late])
    return { ...result, outcome: 'passed' }
  } catch (error) {
    const outcome = error instanceof NotRun ? 'not run' : 'failed'
    const { message, cause } = error as Error
    return { ...result, outcome, reason: cause instanceof Error ? `${message}: ${cause.message}` : message }
  } finally {
    clearTimeout(timer)
  }
}
