import { sql } from 'kysely'
import { v7 as newUuid } from 'uuid'
import type { Quotas } from '../core/quotas.ts'
import { trashFileBytes } from '../core/trash.ts'
import { inBatches } from '../database/batches.ts'
import { type Db, statement } from '../database/database.ts'
import type { UploadStore } from '../http/files/upload.ts'
import { Problem } from '../platform/problem.ts'
import type { FileKey, FileStore } from './file-store.ts'

/** Longer than the longest upload. */
const RETENTION_SECONDS = 7_200
const BATCH = 100

const insertUnclaimed = statement(
  'insert_unclaimed_file',
  (args: FileKey) => sql`
    insert into unclaimed_files (board_id, file_id, remove_after)
    values (${args.board_id}, ${args.file_id}, now() + make_interval(secs => ${sql.lit(RETENTION_SECONDS)}))`,
)
const deleteUnclaimed = statement('delete_unclaimed_file', (args: FileKey, query) =>
  query.deleteFrom('unclaimed_files').where('board_id', '=', args.board_id).where('file_id', '=', args.file_id),
)
const listExpired = statement(
  'list_expired_files',
  () => sql<FileKey>`
    select board_id, file_id from unclaimed_files where remove_after < now() order by remove_after limit ${sql.lit(BATCH)}`,
)

async function removeFile(db: Db, files: FileStore, key: FileKey) {
  await files.remove(key)
  await db.run(deleteUnclaimed, key)
}

/**
 * Stores uploads. Each file is recorded before its first byte, so that a crash leaves no unknown chunks. A file that exceeds the
 * board's quota is rejected early; the change that claims the file checks again under the board lock.
 */
export const uploadsTo = (
  database: Db,
  files: FileStore,
  quotas: Quotas,
  limits: Pick<UploadStore, 'maxBytes'>,
): UploadStore => ({
  ...limits,
  pace: (user_id, bytes) => files.pace(user_id, bytes),
  async store(board_id, content, user_id) {
    const key = { board_id, file_id: newUuid() }
    const db = database
    // Files in the trash are deleted to make space.
    const maxBytes =
      (await quotas.remainingFileBytes(db, board_id)) + (quotas.isOn ? await trashFileBytes(db, board_id) : 0)
    await db.run(insertUnclaimed, key)
    try {
      await files.put(key, withinQuota(maxBytes, content), user_id)
    } catch (error) {
      // If this fails too, the background job deletes it.
      await removeFile(db, files, key).catch(() => {})
      throw error
    }
    return key.file_id
  },
  discard: (board_id, file_id) => removeFile(database, files, { board_id, file_id }).catch(() => {}),
})

async function* withinQuota(maxBytes: number, content: AsyncIterable<Buffer>) {
  let size = 0
  for await (const chunk of content) {
    size += chunk.length
    if (size > maxBytes) throw new Problem('board_file_limit')
    yield chunk
  }
}

/** Deletes files that no attachment refers to. Returns how many. */
export const deleteUnclaimedFiles = (db: Db, files: FileStore): Promise<number> =>
  inBatches(async () => {
    const keys = await db.run(listExpired, {})
    for (const key of keys) await removeFile(db, files, key)
    return keys
  }, BATCH)
