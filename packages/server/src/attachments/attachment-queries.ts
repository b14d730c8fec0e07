import type { Attachment } from '@lockstep/contract/attachments'
import { sql } from 'kysely'
import { readStatement } from '../core/resource-statements.ts'
import { type Db, type JsonRow, type ResourceKey, statement } from '../database/database.ts'

/** An attachment, of the row `attachment` of the table `attachments`. */
const attachmentJson = sql<Attachment>`(select row_to_json(fields) from (select
  attachment.id, attachment.card_id, attachment.name, attachment.mime_type, attachment.size) fields)`
/** All attachments of the row `card` of the table `cards`, oldest first. */
export const attachmentsJson = sql<Attachment[]>`(
  select coalesce(json_agg(${attachmentJson} order by attachment.created_at, attachment.id), '[]') from attachments attachment
  where attachment.board_id = card.board_id and attachment.card_id = card.id)`

/** The content of an attachment: its bytes are stored under `file_id`. */
interface StoredFile {
  file_id: string
  name: string
  mime_type: string
  size: number
  content_hash: string
}

const insert = statement(
  'insert_attachment',
  (args: ResourceKey & StoredFile & { card_id: string }) => sql<JsonRow<Attachment>>`
    with claimed as (
      delete from unclaimed_files where board_id = ${args.board_id} and file_id = ${args.file_id} returning board_id, file_id
    )
    insert into attachments as attachment (board_id, id, card_id, file_id, name, mime_type, size, content_hash)
    select board_id, ${args.id}, ${args.card_id}, file_id, ${args.name}, ${args.mime_type}, ${args.size}, ${args.content_hash} from claimed
    returning ${attachmentJson}::text as json`,
)
/** Attaches a stored file. Undefined when the file was deleted meanwhile. */
export const insertAttachment = async (db: Db, attachment: ResourceKey & StoredFile & { card_id: string }) =>
  (await db.run(insert, attachment))[0]?.json

const read = readStatement('attachment', attachmentJson)
/** Undefined when the board has no such attachment. */
export const readAttachment = async (db: Db, key: ResourceKey) => (await db.run(read, key))[0]?.json

const readRecord = statement('read_attachment_file', (args: ResourceKey, query) =>
  query
    .selectFrom('attachments')
    .select(['file_id', 'name', 'mime_type', 'size', 'content_hash'])
    .where('board_id', '=', args.board_id)
    .where('id', '=', args.id),
)
/** What is needed to send the file. */
export const readAttachedFile = async (db: Db, key: ResourceKey): Promise<StoredFile | undefined> =>
  (await db.run(readRecord, key))[0] as StoredFile | undefined

const remove = statement('delete_attachment', (args: ResourceKey, query) =>
  query.deleteFrom('attachments').where('board_id', '=', args.board_id).where('id', '=', args.id),
)
export const deleteAttachment = async (db: Db, key: ResourceKey) => void (await db.run(remove, key))
