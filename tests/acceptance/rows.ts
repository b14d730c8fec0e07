import type { Service } from './service.ts'

/** Specified: the specification says so. Decided: it leaves it open, and this service decided; another may decide otherwise. */
type Standing = 'specified' | 'decided'
type Check = (service: Service) => Promise<void>
interface Options {
  /** Waits for heartbeats or for presence to run out: left out by `--quick`. */
  waits?: boolean
  /** Checks the responses of all other rows. Runs after them. */
  closing?: boolean
}

/** One row of the conformance table: a sentence about the service, and how it is tried. */
export interface Row extends Options {
  /** Part or section of the specification, and a name: `4.6-move`. */
  id: string
  sentence: string
  standing: Standing
  /** Absent when no black box could see it; then `why` says so. */
  check?: Check
  why?: string
}

export const rows: Row[] = []

function add(row: Row) {
  if (rows.some(({ id, standing }) => id === row.id && standing === row.standing)) throw new Error(`Two rows ${row.id}`)
  rows.push(row)
}

/** Something that the specification says. */
export const row = (id: string, sentence: string, check: Check, options: Options = {}) =>
  add({ id, sentence, standing: 'specified', check, ...options })

/** Something that the specification leaves open and this service decided. */
export const decided = (id: string, sentence: string, check: Check, options: Options = {}) =>
  add({ id, sentence, standing: 'decided', check, ...options })

/** Something that the specification says and that cannot be seen from outside. It is listed, never passed. */
export const unseen = (id: string, sentence: string, why: string) => add({ id, sentence, standing: 'specified', why })

/** Why a row cannot be tested on this service. It is listed with the reason, and never passes. */
export class NotRun extends Error {}
