import { readAttachment } from './attachments/attachment-queries.ts'
import { readRule } from './automations/automation-queries.ts'
import { etagOfBoard } from './boards/board-cache.ts'
import { readBoard, readBoardVersion } from './boards/board-queries.ts'
import { readMember } from './boards/member-queries.ts'
import { readCard } from './cards/card-queries.ts'
import { readChecklist } from './checklists/checklist-queries.ts'
import { readItems } from './checklists/item-queries.ts'
import { readColumn } from './columns/column-queries.ts'
import type { Db } from './database/database.ts'
import { etagOf } from './http/etag.ts'
import type { ResourceReader, ResourceReaders } from './http/precondition.ts'
import { readLabel } from './labels/label-queries.ts'
import { toJson } from './platform/json.ts'

type Key = { board_id: string; id: string }
const seen =
  (read: (db: Db, key: Key) => Promise<unknown>) =>
  async (db: Db, key: Key): Promise<ResourceReader | undefined> => {
    const found = await read(db, key)
    if (found === undefined) return undefined
    const json = toJson(found)
    return { json, etags: [etagOf(json)] }
  }

/** What every kind of thing looks like to a member, for `If-Match`. */
export const resourceReaders: ResourceReaders = {
  // A board is known by two answers: what changing it answers, and the full board.
  async board(db, { id }) {
    const [json, version] = await Promise.all([readBoard(db, id), readBoardVersion(db, id)])
    return json && version && { json, etags: [etagOf(json), etagOfBoard(version)] }
  },
  member: seen(async (db, { board_id, id }) => (await readMember(db, { board_id, user_id: id }))?.json),
  column: seen(readColumn),
  card: seen(readCard),
  label: seen(readLabel),
  checklist: seen(async (db, key) => (await readChecklist(db, key))?.json),
  item: seen(async (db, { board_id, id }) => (await readItems(db, board_id, [id]))[0]?.json),
  attachment: seen(readAttachment),
  rule: seen(readRule),
}
