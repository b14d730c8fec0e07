import { sql } from 'kysely'
import { v7 as newUuid } from 'uuid'
import type { Quotas } from '../core/quotas.ts'
import { inBatches } from '../database/batches.ts'
import { type Database, type Db, statement } from '../database/database.ts'
import type { UploadStore } from '../http/files/upload.ts'
import { Problem } from '../platform/problem.ts'
import type { FileKey, FileStore } from './file-store.ts'

/** Longer than any upload may take. */
const KEPT_SECONDS = 7_200
const BATCH = 100

const announce = statement(
  'announce_file',
  (args: FileKey) => sql`
    insert into unclaimed_files (board_id, file_id, remove_after)
    values (${args.board_id}, ${args.file_id}, now() + make_interval(secs => ${sql.lit(KEPT_SECONDS)}))`,
)
const forget = statement('forget_file', (args: FileKey, query) =>
  query.deleteFrom('unclaimed_files').where('board_id', '=', args.board_id).where('file_id', '=', args.file_id),
)
const due = statement(
  'read_unclaimed_files',
  () => sql<FileKey>`
    select board_id, file_id from unclaimed_files where remove_after < now() order by remove_after limit ${sql.lit(BATCH)}`,
)

async function removeFile(db: Db, files: FileStore, key: FileKey) {
  await files.remove(key)
  await db.run(forget, key)
}

/**
 * Takes files in. Each is written down before its first byte, so that a crash leaves nothing that nobody knows of. What does
 * not fit on the board any more is not stored; the change that claims the file checks again, under the board's lock.
 */
export const uploadsTo = (
  database: Pick<Database, 'forKey'>,
  files: FileStore,
  quotas: Quotas,
  bounds: Pick<UploadStore, 'maxBytes' | 'minBytesPerSecond'>,
): UploadStore => ({
  ...bounds,
  async take(board_id, content, user_id) {
    const key = { board_id, file_id: newUuid() }
    const db = database.forKey(board_id)
    const room = await quotas.fileRoom(db, board_id)
    await db.run(announce, key)
    try {
      await files.put(key, within(room, content), user_id)
    } catch (error) {
      // If this fails too, the sweeper will do it.
      await removeFile(db, files, key).catch(() => {})
      throw error
    }
    return key.file_id
  },
  drop: (board_id, file_id) => removeFile(database.forKey(board_id), files, { board_id, file_id }).catch(() => {}),
})

async function* within(room: number, content: AsyncIterable<Buffer>) {
  let size = 0
  for await (const piece of content) {
    size += piece.length
    if (size > room) throw new Problem('board_file_limit')
    yield piece
  }
}

/** Removes the files that belong to no attachment any more. Answers how many. */
export const sweepFiles = (db: Db, files: FileStore): Promise<number> =>
  inBatches(async () => {
    const keys = await db.run(due, {})
    for (const key of keys) await removeFile(db, files, key)
    return keys
  }, BATCH)
