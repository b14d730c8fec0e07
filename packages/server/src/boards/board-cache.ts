import { promisify } from 'node:util'
import { gunzip, gzip, type ZlibOptions } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { BoardVersion } from '../core/board-version.ts'
import type { Db } from '../database/database.ts'
import { Problem } from '../platform/problem.ts'
import { type ReleasableSlot, waitWithout } from '../platform/slot.ts'
import { type FullBoardPieces, readFullBoard, readFullBoardChanges } from './full-board-queries.ts'
import { type CardPlace, joinBoard, placesBytes } from './full-board-text.ts'

const gzipAsync = promisify<Buffer, ZlibOptions, Buffer>(gzip)
const gunzipAsync = promisify<Buffer, ZlibOptions, Buffer>(gunzip)
/** Level 1 takes half the time of the default level, for output that is a fifth larger. */
const LEVEL = 1
const MIN_CHUNK_BYTES = 1_024

/** Each chunk of output costs a round trip to the thread pool, so the output is usually one chunk. */
async function packed(text: Buffer): Promise<Buffer> {
  const output = await gzipAsync(text, { level: LEVEL, chunkSize: Math.max(MIN_CHUNK_BYTES, text.length >> 1) })
  // A copy of its own size: the output is part of a whole chunk.
  const bytes = Buffer.allocUnsafeSlow(output.length)
  output.copy(bytes)
  return bytes
}
const unpacked = ({ bytes, text_bytes }: CachedBoard) => gunzipAsync(bytes, { chunkSize: text_bytes + 1 })

/** Memory of a cache entry beside its bytes. */
const OVERHEAD = 256

interface CachedBoard extends BoardVersion {
  /** The JSON text, compressed, and how many bytes it has without. */
  bytes: Buffer
  text_bytes: number
  /** Where the cards are in the text. */
  places: CardPlace[]
}

/** Increased when boards get new fields: an upgraded service must not confirm a board without them. */
const FORM = 3
/** The ETag of a full board: its form, its position, and its members' profiles, which change without an event. */
export const etagOfBoard = ({ position, profiles }: BoardVersion) => `"${FORM}:${position}-${profiles}"`

const nameOf = (board_id: string, version: BoardVersion) => `${board_id} ${etagOfBoard(version)}`

/**
 * An LRU cache of full boards as they are sent, by version and bounded in bytes. Concurrent requests for one version share
 * one build.
 */
export class BoardCache {
  private readonly cached: LRUCache<string, CachedBoard>
  private readonly building = new Map<string, Promise<CachedBoard>>()

  constructor(maxBytes: number) {
    this.cached = new LRUCache({ maxSize: maxBytes, sizeCalculation: sizeOf })
  }

  get sizeBytes(): number {
    return this.cached.calculatedSize
  }

  /** Whether the board is cached in this version, or being built. */
  has(board_id: string, version: BoardVersion): boolean {
    const known = this.cached.peek(board_id)
    const isCached = known !== undefined && etagOfBoard(known) === etagOfBoard(version)
    return isCached || this.building.has(nameOf(board_id, version))
  }

  /** The board in this version, or in a newer one that came meanwhile. */
  async get(db: Db, board_id: string, version: BoardVersion, slot?: ReleasableSlot): Promise<CachedBoard> {
    const known = this.cached.get(board_id)
    if (known && etagOfBoard(known) === etagOfBoard(version)) return known
    const name = nameOf(board_id, version)
    const other = this.building.get(name)
    if (other) return waitWithout(slot, () => other)
    const building = this.update(db, board_id, version, known)
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
  ): Promise<CachedBoard> {
    if (known?.profiles === version.profiles) {
      const changes = await readFullBoardChanges(db, board_id, known.position)
      if (changes?.profiles === known.profiles) return this.assemble(board_id, changes, known)
    }
    const board = await readFullBoard(db, board_id)
    if (!board) throw new Problem('board_not_found')
    return this.assemble(board_id, board)
  }

  /** Joins the pieces with the unchanged cards of the cached board, and caches the result. */
  private async assemble(board_id: string, pieces: FullBoardPieces, known?: CachedBoard): Promise<CachedBoard> {
    const { position, profiles } = pieces
    const previous = known && { text: await unpacked(known), places: known.places }
    const { text, places } = joinBoard(previous, pieces)
    const text_bytes = text.length
    const cached = { position, profiles, bytes: await packed(text), text_bytes, places }
    this.cached.set(board_id, cached)
    return cached
  }
}

const sizeOf = ({ bytes, places }: CachedBoard) => bytes.length + placesBytes(places) + OVERHEAD
