import { rounded } from '@lockstep/testing/load/measure'
import { median } from '@lockstep/testing/statistics'
import { type Cost, ratioOf } from './cost.ts'

export type Result = 'met' | 'missed' | 'noisy'

/** A row of the table: CPU milliseconds per operation. Null where a process has no part in it. */
export interface Figure {
  operation: string
  node_ms: number | null
  postgres_ms: number | null
  /** Of the bare engine that does the same work. */
  bare_ms: number | null
  /** The time of PostgreSQL, or of Node where PostgreSQL has no part, divided by that of the bare engine. */
  ratio: number | null
  goal: string | null
  result: Result | null
  /** What limits the figure. */
  limit: string
}

/** An upper bound, and the measured value of each round. */
export interface Goal {
  what: string
  most: number
  values: number[]
}
interface Measured {
  /** Per operation, by round. */
  node?: number[]
  postgres?: number[]
  bare?: number[]
}

/** With fewer rounds nothing is decided. */
const LEAST_ROUNDS = 5

/** A goal is decided if the 95 % interval of its rounds is on one side of it. */
export function judge({ most, values }: Pick<Goal, 'most' | 'values'>): Result {
  const { low, high } = ratioOf(values.map((value) => value / most))
  if (values.length < LEAST_ROUNDS) return 'noisy'
  return high <= 1 ? 'met' : low > 1 ? 'missed' : 'noisy'
}

/** The ratios of ours to the bare engine, by round. */
export const ratiosOf = ({ node, postgres, bare }: Measured): number[] =>
  bare ? (postgres ?? node ?? []).map((ours, i) => ours / (bare[i] as number)) : []

export function figure(operation: string, measured: Measured, limit: string, goals: Goal[] = []): Figure {
  const ratios = ratiosOf(measured)
  const results = goals.map(judge)
  const worst = (['missed', 'noisy', 'met'] as const).find((result) => results.includes(result)) ?? null
  const ms = (values?: number[]) => (values ? rounded(median(values)) : null)
  return {
    operation,
    node_ms: ms(measured.node),
    postgres_ms: ms(measured.postgres),
    bare_ms: ms(measured.bare),
    ratio: ratios.length > 0 ? rounded(ratioOf(ratios).ratio) : null,
    goal: goals.map(({ what, most }) => `${what} ≤ ${most}`).join(', ') || null,
    result: worst,
    limit,
  }
}

/** CPU milliseconds per operation of each round. */
export const perOperation = (costs: Cost[], of: 'node' | 'postgres') => costs.map((cost) => cost[of] / cost.count)
