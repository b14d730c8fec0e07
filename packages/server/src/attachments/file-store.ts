import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Database, type Db, statement } from '../database/database.ts'
import { LeakyBuckets } from '../platform/leaky-buckets.ts'
import { Semaphore } from '../platform/semaphore.ts'

export interface FileKey {
  board_id: string
  file_id: string
}

/** Stores the bytes of files. Small enough that an object store could implement it too. */
export interface FileStore {
  /** Stores the content. When many transfers wait, they are served fairly by user. */
  put(key: FileKey, content: AsyncIterable<Buffer>, user_id: string): Promise<void>
  /** The bytes from `start` up to but not including `end`, read on demand. */
  get(key: FileKey, range: { start: number; end: number }, user_id: string): AsyncIterable<Buffer>
  /** Removes a file, complete or not. */
  remove(key: FileKey): Promise<void>
  /** Counts bytes that a user sent, and waits until their rate allows more. `get` does this itself. */
  pace(user_id: string, bytes: number): Promise<void>
}

/** A compromise between the number of statements and the memory of concurrent uploads. */
const CHUNK_BYTES = 65_536
/** Transfers wait only above this level, so that those of the first megabytes do not. */
const FREE_MS = 500

const write = statement(
  'write_file_chunk',
  (args: FileKey & { nth: number; bytes: Buffer }) => sql`
    insert into file_chunks (board_id, file_id, nth, bytes) values (${args.board_id}, ${args.file_id}, ${args.nth}, ${args.bytes})`,
)
const read = statement(
  'read_file_chunk',
  (args: FileKey & { nth: number }) => sql<{ bytes: Buffer }>`
    select bytes from file_chunks where board_id = ${args.board_id} and file_id = ${args.file_id} and nth = ${args.nth}`,
)
const deleteChunks = statement('delete_file_chunks', (args: FileKey, query) =>
  query.deleteFrom('file_chunks').where('board_id', '=', args.board_id).where('file_id', '=', args.file_id),
)

/** Stores files in PostgreSQL in chunks. Each chunk is a short statement; between two of them no connection is held. */
export class ChunkStore implements FileStore {
  private readonly database: Pick<Database, 'forKey'>
  private readonly semaphore: Semaphore
  private readonly transferred: LeakyBuckets
  private readonly onTransfer: (direction: 'stored' | 'fetched', bytes: number) => void

  /**
   * `maxConcurrent` limits the chunks that are read and written at once, to leave connections to other work.
   * `bytesPerSecond` limits the transfers of one user together: copying and hashing them takes time from other requests.
   */
  constructor(
    database: Pick<Database, 'forKey'>,
    { maxConcurrent, bytesPerSecond = Number.POSITIVE_INFINITY }: { maxConcurrent: number; bytesPerSecond?: number },
    onTransfer: ChunkStore['onTransfer'] = () => {},
  ) {
    this.database = database
    this.semaphore = new Semaphore(maxConcurrent)
    this.transferred = new LeakyBuckets(bytesPerSecond)
    this.onTransfer = onTransfer
  }

  async put(key: FileKey, content: AsyncIterable<Buffer>, user_id: string) {
    let nth = 0
    for await (const bytes of inChunks(content)) {
      const chunk = { ...key, nth: nth++, bytes }
      await this.runFor(user_id, (db) => db.run(write, chunk))
      this.onTransfer('stored', bytes.length)
    }
  }

  async *get(key: FileKey, { start, end }: { start: number; end: number }, user_id: string) {
    for (let from = start; from < end; ) {
      const nth = Math.floor(from / CHUNK_BYTES)
      // Before the read, so that a download that waits holds no chunk in memory, also after its client has disconnected.
      await this.pace(user_id, CHUNK_BYTES)
      const [chunk] = await this.runFor(user_id, (db) => db.run(read, { ...key, nth }))
      if (!chunk) throw new Error('A chunk of the file is missing')
      const offset = nth * CHUNK_BYTES
      const bytes = chunk.bytes.subarray(from - offset, end - offset)
      this.onTransfer('fetched', bytes.length)
      // A short range costs as much as its chunk, and the last chunk of a file may be short.
      this.transferred.add(user_id, chunk.bytes.length - CHUNK_BYTES)
      yield bytes
      from = offset + CHUNK_BYTES
    }
  }

  async remove(key: FileKey) {
    await this.database.forKey(key.board_id).run(deleteChunks, key)
  }

  async pace(user_id: string, bytes: number) {
    const ms = this.transferred.add(user_id, bytes) - FREE_MS
    if (ms > 0) await pause(ms)
  }

  private runFor<T>(user_id: string, work: (db: Db) => Promise<T>): Promise<T> {
    return this.semaphore.run(() => work(this.database.forKey(user_id)), { key: user_id })
  }
}

/**
 * Splits content into chunks of equal size, except the last. Copies the bytes as they arrive: a list of many tiny buffers would
 * take a hundred times their memory.
 */
async function* inChunks(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  let size = 0
  for await (const piece of content) {
    for (let from = 0; from < piece.length; ) {
      const taken = piece.copy(chunk, size, from)
      from += taken
      size += taken
      if (size < CHUNK_BYTES) continue
      yield chunk
      chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      size = 0
    }
  }
  if (size > 0) yield chunk.subarray(0, size)
}
