import { sql } from 'kysely'
import { type Database, type Db, statement } from '../database/database.ts'
import { Semaphore } from '../platform/semaphore.ts'

export interface FileKey {
  board_id: string
  file_id: string
}

/** Where the bytes of files are. PostgreSQL for now; an object store needs no more than this. */
export interface FileStore {
  /** Keeps what comes until it ends. Transfers that wait for each other are served in turn by user. */
  put(key: FileKey, content: AsyncIterable<Buffer>, user_id: string): Promise<void>
  /** The bytes from `start` up to and without `end`, fetched as they are asked for. */
  get(key: FileKey, range: { start: number; end: number }, user_id: string): AsyncIterable<Buffer>
  /** Removes a file, whatever there is of it. */
  remove(key: FileKey): Promise<void>
}

/** Large enough to make statements few, small enough that a hundred uploads at once are nothing. */
const CHUNK_BYTES = 65_536

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
const erase = statement('erase_file_chunks', (args: FileKey, query) =>
  query.deleteFrom('file_chunks').where('board_id', '=', args.board_id).where('file_id', '=', args.file_id),
)

/** Files in PostgreSQL, in chunks, each in a short statement of its own: between two of them no connection is held. */
export class ChunkStore implements FileStore {
  private readonly database: Pick<Database, 'forKey'>
  private readonly semaphore: Semaphore
  private readonly moved: (direction: 'stored' | 'fetched', bytes: number) => void

  /** However many files come and go, no more chunks are on their way at once: other connections are left to others. */
  constructor(database: Pick<Database, 'forKey'>, at_once: number, moved: ChunkStore['moved'] = () => {}) {
    this.database = database
    this.semaphore = new Semaphore(at_once)
    this.moved = moved
  }

  async put(key: FileKey, content: AsyncIterable<Buffer>, user_id: string) {
    let nth = 0
    for await (const bytes of inChunks(content)) {
      const chunk = { ...key, nth: nth++, bytes }
      await this.inTurn(user_id, (db) => db.run(write, chunk))
      this.moved('stored', bytes.length)
    }
  }

  async *get(key: FileKey, { start, end }: { start: number; end: number }, user_id: string) {
    for (let from = start; from < end; ) {
      const nth = Math.floor(from / CHUNK_BYTES)
      const [chunk] = await this.inTurn(user_id, (db) => db.run(read, { ...key, nth }))
      if (!chunk) throw new Error('A file is not complete')
      const offset = nth * CHUNK_BYTES
      const bytes = chunk.bytes.subarray(from - offset, end - offset)
      this.moved('fetched', bytes.length)
      yield bytes
      from = offset + CHUNK_BYTES
    }
  }

  async remove(key: FileKey) {
    await this.database.forKey(key.board_id).run(erase, key)
  }

  private inTurn<T>(user_id: string, work: (db: Db) => Promise<T>): Promise<T> {
    return this.semaphore.run(() => work(this.database.forKey(user_id)), { key: user_id })
  }
}

/**
 * The same bytes in pieces of one size; only the last one may be smaller. They are copied together as they come: bytes
 * that arrive one by one would weigh a hundred times as much as a list.
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
