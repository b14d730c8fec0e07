import type { ProblemCode } from '@lockstep/contract/problems'
import { LRUCache } from 'lru-cache'
import type { Place } from '../http/edge/admission-controller.ts'
import type { BoardVersion } from '../core/board-version.ts'
import type { Db } from '../database/database.ts'
import { problemOf } from '../http/error-handler.ts'
import { pack } from '../http/json-response.ts'
import { Problem } from '../platform/problem.ts'
import { Semaphore } from '../platform/semaphore.ts'
import { readFullBoard } from './board-queries.ts'

/** What an entry costs beside its bytes. */
const OVERHEAD = 256
/** A board of some hundred cards, as JSON. Its compressed size says little of what building it costs. */
const LARGE_BYTES = 262_144
/** How much JSON of large boards is built at once. Building takes several times as much memory. */
const MAX_BUILDING_BYTES = 67_108_864
const MAX_LARGE = 20_000
const MAX_WAITING = 500
const WAIT_MS = 5_000
/** What happens to boards that are too large to be built. */
const tooLarge: ProblemCode[] = ['result_too_large', 'query_timeout']

interface Kept extends BoardVersion {
  /** The JSON text, compressed, and how many bytes it has without. */
  bytes: Buffer
  text_bytes: number
}

interface Asker {
  /** The user whose turn a build counts as. */
  key?: string | undefined
  /** The request's place, which it gives up while it waits for a turn or for the build of another request. */
  place?: Place | undefined
}

/** Names the state of a full board: its position, and the profiles of its members, which change without an event. */
export const etagOfBoard = ({ position, profiles }: BoardVersion) => `"${position}-${profiles}"`

/**
 * Full boards as they are sent, by their version, within a bound of bytes. A board that did not change is built once,
 * however many ask for it, also all at once. What turned out large takes long to build: a few of these are built at a time,
 * so that they do not hold each other up until all of them are too late, and leave connections to others.
 */
export class BoardCache {
  private readonly kept: LRUCache<string, Kept>
  private readonly building = new Map<string, Promise<Kept>>()

  /** How many bytes of JSON a large board had when it was last built; the maximum if it could not be built. */
  private readonly large = new LRUCache<string, number>({ max: MAX_LARGE })
  private readonly semaphore: Semaphore
  private readonly min_weight: number

  constructor(max_bytes: number, at_once: number) {
    const refuse = () => new Problem('overloaded')
    this.semaphore = new Semaphore(MAX_BUILDING_BYTES, { waiting: MAX_WAITING, wait_ms: WAIT_MS, refuse })
    this.min_weight = MAX_BUILDING_BYTES / at_once
    this.kept = new LRUCache({ maxSize: max_bytes, sizeCalculation: ({ bytes }) => bytes.length + OVERHEAD })
  }

  get size_bytes(): number {
    return this.kept.calculatedSize
  }

  /** The board in this version, or in a newer one that came meanwhile. */
  async get(db: Db, board_id: string, version: BoardVersion, asker: Asker = {}): Promise<Kept> {
    const known = this.kept.get(board_id)
    if (known && etagOfBoard(known) === etagOfBoard(version)) return known
    const name = `${board_id} ${etagOfBoard(version)}`
    const other = this.building.get(name)
    if (other) return asker.place ? asker.place.aside(() => other) : other
    const building = this.buildInTurn(db, board_id, version, asker)
    this.building.set(name, building)
    try {
      return await building
    } finally {
      this.building.delete(name)
    }
  }

  private buildInTurn(db: Db, board_id: string, { text_bytes }: BoardVersion, asker: Asker): Promise<Kept> {
    const build = () => this.build(db, board_id)
    const known = this.large.get(board_id)
    // Small objects take more as JSON than they count, but never twice as much.
    const bytes = known ? Math.max(known, text_bytes ?? 0) : 2 * (text_bytes ?? 0)
    if (bytes <= LARGE_BYTES) return build()
    return this.semaphore.run(build, { ...asker, weight: Math.max(bytes, this.min_weight) })
  }

  private async build(db: Db, board_id: string): Promise<Kept> {
    const board = await readFullBoard(db, board_id).catch((error: unknown) => {
      if (tooLarge.includes(problemOf(error).code)) this.large.set(board_id, MAX_BUILDING_BYTES)
      throw error
    })
    if (!board) throw new Problem('board_not_found')
    const { json, ...version } = board
    const text_bytes = Buffer.byteLength(json)
    const kept = { ...version, bytes: alone(await pack(json)), text_bytes }
    this.kept.set(board_id, kept)
    if (text_bytes > LARGE_BYTES) this.large.set(board_id, text_bytes)
    else this.large.delete(board_id)
    return kept
  }
}

/**
 * Bytes in memory of their own. What Node hands out is often a piece of a slab of 64 KiB: to keep two kilobytes of it would keep
 * all of it, and the bound would be one of bytes that were counted and not of those that are held.
 */
function alone(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(own)
  return own
}
