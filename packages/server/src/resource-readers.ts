import { readAttachment } from './attachments/attachment-queries.ts'
import { readRule } from './automations/automation-queries.ts'
import { etagOfBoard } from './boards/board-cache.ts'
import { readBoard, readBoardVersion } from './boards/board-queries.ts'
import { readMember } from './boards/member-queries.ts'
import { readCard } from './cards/card-queries.ts'
import { readChecklist } from './checklists/checklist-queries.ts'
import { readItem } from './checklists/item-queries.ts'
import { readColumn } from './columns/column-queries.ts'
import { readComment } from './comments/comment-queries.ts'
import type { Db, ResourceKey } from './database/database.ts'
import { encodeWithEtag } from './http/etag.ts'
import type { ResourceReaders, ResourceState } from './http/precondition.ts'
import { readLabel } from './labels/label-queries.ts'
import { toJson } from './platform/json.ts'

const withEtag =
  (read: (db: Db, key: ResourceKey) => Promise<unknown>) =>
  async (db: Db, key: ResourceKey): Promise<ResourceState | undefined> => {
    const resource = await read(db, key)
    if (resource === undefined) return undefined
    const json = toJson(resource)
    return { json, etags: [(await encodeWithEtag(json)).etag] }
  }

/** Reads the current state of each kind of resource, for `If-Match`. */
export const resourceReaders: ResourceReaders = {
  // A board has two ETags: that of the response to a change, and that of the full board.
  async board(db, { id }) {
    const [json, version] = await Promise.all([readBoard(db, id), readBoardVersion(db, id)])
    return json && version && { json, etags: [(await encodeWithEtag(json)).etag, etagOfBoard(version)] }
  },
  member: withEtag(async (db, { board_id, id }) => (await readMember(db, { board_id, user_id: id }))?.json),
  column: withEtag(readColumn),
  card: withEtag(readCard),
  label: withEtag(readLabel),
  checklist: withEtag(readChecklist),
  item: withEtag(readItem),
  attachment: withEtag(readAttachment),
  comment: withEtag(readComment),
  rule: withEtag(readRule),
}
