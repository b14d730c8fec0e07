import type { Attachment, attachmentOperations } from '@lockstep/contract/attachments'
import { objectBytes } from '../core/quotas.ts'
import type { Handlers } from '../http/handler.ts'
import { Problem } from '../platform/problem.ts'
import { deleteAttachment, insertAttachment, readAttachedFile, readAttachment } from './attachment-queries.ts'
import type { FileStore } from './file-store.ts'

export const attachmentHandlers = (files: FileStore): Handlers<typeof attachmentOperations> => ({
  async createAttachment({ db, board_id, params: { card_id }, newId, body: { file }, emit }) {
    const attachment = await insertAttachment(db, { ...file, board_id, id: newId, card_id })
    if (!attachment) throw new Error('The file was deleted before it was claimed')
    const { name, mime_type, size } = file
    const growth = { text_bytes: objectBytes(name, mime_type), file_bytes: size }
    emit('attachment.created', attachment, { card_id, growth })
    return attachment
  },

  async getAttachment({ db, board_id, params, caller }) {
    const file = await readAttachedFile(db, { board_id, id: params.attachment_id })
    if (!file) throw new Problem('attachment_not_found')
    const { file_id, content_hash, ...properties } = file
    return {
      ...properties,
      etag: `"${content_hash}"`,
      content: (start, end) => files.get({ board_id, file_id }, { start, end }, caller.id),
    }
  },

  async deleteAttachment({ db, board_id, params, emit }) {
    const key = { board_id, id: params.attachment_id }
    const attachment = await readAttachment(db, key)
    if (!attachment) throw new Problem('attachment_not_found')
    await deleteAttachment(db, key)
    const { card_id, name, mime_type, size } = JSON.parse(attachment) as Attachment
    const growth = { text_bytes: -objectBytes(name, mime_type), file_bytes: -size }
    emit('attachment.deleted', attachment, { card_id, growth })
  },
})
