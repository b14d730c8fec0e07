import { sql } from 'kysely'
import { type Db, statement } from '../database/database.ts'
import type { Admission } from '../http/admission.ts'
import type { ByteBudget } from '../platform/byte-budget.ts'

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
  /** Counts bytes that a user sends, and waits until their budget allows them. `get` does this itself. */
  pace(user_id: string, bytes: number): Promise<void>
  /** Removes a file, complete or not. */
  remove(key: FileKey): Promise<void>
}

/** A compromise between the number of statements and the memory of concurrent uploads. */
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
const deleteChunks = statement('delete_file_chunks', (args: FileKey, query) =>
  query.deleteFrom('file_chunks').where('board_id', '=', args.board_id).where('file_id', '=', args.file_id),
)

/** Stores files in PostgreSQL in chunks. Each chunk is a short statement; between two of them no connection is held. */
export class ChunkStore implements FileStore {
  private readonly database: Db
  private readonly admission: Pick<Admission, 'run'>
  private readonly budget: ByteBudget
  private readonly onTransfer: (direction: 'stored' | 'fetched', bytes: number) => void

  constructor(
    database: Db,
    admission: Pick<Admission, 'run'>,
    budget: ByteBudget,
    onTransfer: ChunkStore['onTransfer'] = () => {},
  ) {
    this.database = database
    this.admission = admission
    this.budget = budget
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
      // Before the read, so that a download that waits holds no chunk in memory.
      await this.pace(user_id, CHUNK_BYTES)
      const [chunk] = await this.runFor(user_id, (db) => db.run(read, { ...key, nth }))
      if (!chunk) throw new Error('A chunk of the file is missing')
      const offset = nth * CHUNK_BYTES
      const bytes = chunk.bytes.subarray(from - offset, end - offset)
      this.onTransfer('fetched', bytes.length)
      yield bytes
      from = offset + CHUNK_BYTES
    }
  }

  async remove(key: FileKey) {
    await this.database.run(deleteChunks, key)
  }

  pace(user_id: string, bytes: number) {
    return this.budget.pace(user_id, bytes)
  }

  private runFor<T>(user_id: string, work: (db: Db) => Promise<T>): Promise<T> {
    return this.admission.run(user_id, () => work(this.database))
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
