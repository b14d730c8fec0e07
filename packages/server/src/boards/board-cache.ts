import type { ProblemCode } from '@lockstep/contract/problems'
import { LRUCache } from 'lru-cache'
import type { BoardVersion } from '../core/board-version.ts'
import type { Db } from '../database/database.ts'
import { problemOf } from '../http/error-handler.ts'
import { joinSegments } from '../platform/gzip-segments.ts'
import { Problem } from '../platform/problem.ts'
import { Semaphore } from '../platform/semaphore.ts'
import { type ReleasableSlot, waitWithout } from '../platform/slot.ts'
import { type FullBoardPieces, readFullBoard, readFullBoardChanges } from './full-board-queries.ts'
import { assembleBoard, type BoardSegment, indexBytes } from './full-board-text.ts'

/** Memory of a cache entry beside its bytes. */
const OVERHEAD = 256
/** A board of some hundred cards, as JSON. Its compressed size says little of what building it costs. */
const LARGE_BYTES = 262_144
/** How much JSON of large boards is built at once. Building takes several times as much memory. */
const MAX_BUILDING_BYTES = 67_108_864
/** What a change of a large board counts at most: usually a few cards are read. */
const MAX_CHANGED_BYTES = 1_048_576
const MAX_LARGE = 20_000
const MAX_WAITING = 500
const WAIT_MS = 5_000
/** How building a board fails that is too large. */
const tooLarge: ProblemCode[] = ['result_too_large', 'query_timeout']

interface CachedBoard extends BoardVersion {
  /** The JSON text, compressed, and how many bytes it has without. */
  bytes: Buffer
  text_bytes: number
  /** The parts of `bytes`. */
  segments: BoardSegment[]
}

interface LoadRequest {
  /** The user. Builds are started fairly by user. */
  key?: string | undefined
  /** The concurrency slot, released while the request waits for the semaphore or for the build of another request. */
  slot?: ReleasableSlot | undefined
}

/** Increased when boards get new fields: an upgraded service must not confirm a board without them. */
const FORM = 3
/** The ETag of a full board: its form, its position, and its members' profiles, which change without an event. */
export const etagOfBoard = ({ position, profiles }: BoardVersion) => `"${FORM}:${position}-${profiles}"`

/**
 * An LRU cache of full boards as they are sent, by version and bounded in bytes. Concurrent requests for one version share
 * one build. Large boards take long to build: a semaphore limits them, so that they do not delay each other into a timeout
 * and leave database connections to others.
 */
export class BoardCache {
  private readonly cached: LRUCache<string, CachedBoard>
  private readonly building = new Map<string, Promise<CachedBoard>>()

  /** How many bytes of JSON a large board had when it was last built; the maximum if it could not be built. */
  private readonly large = new LRUCache<string, number>({ max: MAX_LARGE })
  private readonly semaphore: Semaphore
  private readonly minWeight: number

  constructor(maxBytes: number, concurrency: number) {
    const reject = () => new Problem('overloaded')
    this.semaphore = new Semaphore(MAX_BUILDING_BYTES, { maxWaiting: MAX_WAITING, waitMs: WAIT_MS, reject })
    this.minWeight = MAX_BUILDING_BYTES / concurrency
    this.cached = new LRUCache({ maxSize: maxBytes, sizeCalculation: sizeOf })
  }

  get sizeBytes(): number {
    return this.cached.calculatedSize
  }

  /** The board in this version, or in a newer one that came meanwhile. */
  async get(db: Db, board_id: string, version: BoardVersion, load: LoadRequest = {}): Promise<CachedBoard> {
    const known = this.cached.get(board_id)
    if (known && etagOfBoard(known) === etagOfBoard(version)) return known
    const name = `${board_id} ${etagOfBoard(version)}`
    const other = this.building.get(name)
    if (other) return waitWithout(load.slot, () => other)
    const building = this.update(db, board_id, version, known, load)
    this.building.set(name, building)
    try {
      return await building
    } finally {
      this.building.delete(name)
    }
  }

  /** Reads only the changed cards if the board is cached, the log has all changes since, and no profile changed. */
  private async update(
    db: Db,
    board_id: string,
    version: BoardVersion,
    known: CachedBoard | undefined,
    load: LoadRequest,
  ): Promise<CachedBoard> {
    const bytes = this.estimate(board_id, version)
    if (known?.profiles === version.profiles) {
      const weight = Math.min(bytes, MAX_CHANGED_BYTES)
      const updated = await this.limited(weight, load, async () => {
        const changes = await readFullBoardChanges(db, board_id, known.position)
        return changes?.profiles === known.profiles && this.assemble(board_id, changes, known.segments)
      })
      if (updated) return updated
    }
    return this.limited(bytes && Math.max(bytes, this.minWeight), load, () => this.build(db, board_id))
  }

  /** The size of a large board as JSON; 0 for others. Small objects take more as JSON than they count, but never twice as much. */
  private estimate(board_id: string, { text_bytes }: BoardVersion): number {
    const known = this.large.get(board_id)
    const bytes = known ? Math.max(known, text_bytes ?? 0) : 2 * (text_bytes ?? 0)
    return bytes > LARGE_BYTES ? bytes : 0
  }

  private limited<T>(weight: number, load: LoadRequest, work: () => Promise<T>): Promise<T> {
    return weight === 0 ? work() : this.semaphore.run(work, { ...load, weight })
  }

  private async build(db: Db, board_id: string): Promise<CachedBoard> {
    const board = await readFullBoard(db, board_id).catch((error: unknown) => {
      if (tooLarge.includes(problemOf(error).code)) this.large.set(board_id, MAX_BUILDING_BYTES)
      throw error
    })
    if (!board) throw new Problem('board_not_found')
    return this.assemble(board_id, board, [])
  }

  private async assemble(
    board_id: string,
    pieces: FullBoardPieces,
    previous: readonly BoardSegment[],
  ): Promise<CachedBoard> {
    const { position, profiles } = pieces
    const board = joinSegments(await assembleBoard(previous, pieces))
    const text_bytes = board.segments.reduce((sum, { textBytes }) => sum + textBytes, 0)
    const cached = { position, profiles, ...board, text_bytes }
    this.cached.set(board_id, cached)
    if (text_bytes > LARGE_BYTES) this.large.set(board_id, text_bytes)
    else this.large.delete(board_id)
    return cached
  }
}

const sizeOf = ({ bytes, segments }: CachedBoard) => bytes.length + indexBytes(segments) + OVERHEAD
