import { LRUCache } from 'lru-cache'
import type { BoardVersion } from '../core/board-version.ts'
import type { Db } from '../core/database.ts'
import { Gate } from '../core/gate.ts'
import { pack } from '../core/json-answer.ts'
import { Problem } from '../core/problem.ts'
import { readFullBoard } from './board-queries.ts'

/** What an entry costs beside its bytes. */
const OVERHEAD = 256
/** A board of some thousand cards, as it is sent. */
const LARGE_BYTES = 65_536
const MAX_LARGE = 20_000
const MAX_WAITING = 500
const WAIT_MS = 5_000

interface Kept extends BoardVersion {
  bytes: Buffer
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

  private readonly large = new LRUCache<string, true>({ max: MAX_LARGE })
  private readonly gate: Gate

  constructor(max_bytes: number, at_once: number) {
    const refuse = () => new Problem('overloaded')
    this.gate = new Gate(at_once, { waiting: MAX_WAITING, wait_ms: WAIT_MS, refuse })
    this.kept = new LRUCache({ maxSize: max_bytes, sizeCalculation: ({ bytes }) => bytes.length + OVERHEAD })
  }

  get size_bytes(): number {
    return this.kept.calculatedSize
  }

  /** The board in this version, or in a newer one that came meanwhile. */
  async get(db: Db, board_id: string, version: BoardVersion): Promise<Kept> {
    const known = this.kept.get(board_id)
    if (known && etagOfBoard(known) === etagOfBoard(version)) return known
    const name = `${board_id} ${etagOfBoard(version)}`
    const building = this.building.get(name) ?? this.buildInTurn(db, board_id)
    this.building.set(name, building)
    try {
      return await building
    } finally {
      this.building.delete(name)
    }
  }

  private buildInTurn(db: Db, board_id: string): Promise<Kept> {
    const build = () => this.build(db, board_id)
    return this.large.has(board_id) ? this.gate.pass(build) : build()
  }

  private async build(db: Db, board_id: string): Promise<Kept> {
    const board = await readFullBoard(db, board_id)
    if (!board) throw new Problem('board_not_found')
    const { json, ...version } = board
    const kept = { ...version, bytes: alone(await pack(json)) }
    this.kept.set(board_id, kept)
    if (kept.bytes.length > LARGE_BYTES) this.large.set(board_id, true)
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
