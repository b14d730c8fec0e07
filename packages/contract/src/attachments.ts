import Type, { type Static } from 'typebox'
import { Bytes, member, NewId, named, nothing, operation, Uuid } from './operation.ts'
import { create, remove } from './resources.ts'

const shape = Type.Object({
  id: Uuid,
  card_id: Uuid,
  name: Type.String(),
  mime_type: Type.String(),
  size: Type.Integer({ minimum: 0 }),
})
/** The properties of a file, without its content. */
export interface Attachment extends Static<typeof shape> {}
export const Attachment = named<Attachment>('Attachment', shape)

const AttachmentPath = Type.Object({ attachment_id: Uuid })

export const attachmentOperations = {
  createAttachment: operation({
    method: 'POST',
    path: '/cards/{card_id}/attachments',
    tag: 'attachments',
    summary: 'Attach a file to a card',
    description:
      'A multipart form with one file. The name of its part does not matter; the file name and type are taken from the part. An optional part `id` sets the id.',
    access: member('card'),
    params: Type.Object({ card_id: Uuid }),
    body: Type.Object({ ...NewId, file: Bytes }),
    body_type: 'upload',
    returns: { status: 201, schema: Attachment },
    effect: create('attachment'),
    emits: ['attachment.created'],
    problems: ['file_too_large', 'id_taken', 'board_file_limit'],
  }),
  getAttachment: operation({
    method: 'GET',
    path: '/attachments/{attachment_id}',
    tag: 'attachments',
    summary: 'Download a file',
    description:
      'Always sent as a download. Supports `Range` and `If-None-Match`. A request for a script, style sheet, worker, frame or object (`Sec-Fetch-Dest`) gets 403.',
    access: member('attachment'),
    params: AttachmentPath,
    returns: { status: 200, schema: Bytes },
    problems: ['download_only', 'range_not_satisfiable'],
  }),
  deleteAttachment: operation({
    method: 'DELETE',
    path: '/attachments/{attachment_id}',
    tag: 'attachments',
    summary: 'Delete a file',
    description: 'Cannot be undone.',
    access: member('attachment'),
    params: AttachmentPath,
    returns: nothing,
    effect: remove('attachment'),
    emits: ['attachment.deleted'],
  }),
}

export const attachmentEvents = {
  'attachment.created': Attachment,
  'attachment.deleted': Attachment,
}
