import type { FullBoard, ListedBoard } from '@lockstep/client'
import { readCachedBoard, readCachedBoardIds, readCachedBoardList } from '../offline-cache.ts'

/** A board of the list. If only its content is saved, the time of its last change may be unknown. */
export type ShownBoard = Omit<ListedBoard, 'changed_at'> & { changed_at: string | undefined }

export interface OfflineBoards {
  boards: readonly ShownBoard[]
  /** The boards whose content is saved in the browser. */
  savedIds: ReadonlySet<string>
}

/** The boards of the last list, and those that were opened since. */
export async function readOfflineBoards(user_id: string): Promise<OfflineBoards> {
  const [listed, savedIds] = await Promise.all([readCachedBoardList(), readCachedBoardIds()])
  const newIds = savedIds.filter((id) => !listed.some((board) => board.id === id))
  const opened = await Promise.all(newIds.map(async (id) => (await readCachedBoard(id))?.read()))
  const added = opened.filter((board) => board !== undefined).map((board) => summaryOf(board, user_id))
  return { boards: [...listed, ...added], savedIds: new Set(savedIds) }
}

function summaryOf({ columns, ...board }: FullBoard, user_id: string): ShownBoard {
  const open = columns.filter(({ is_done_column }) => !is_done_column).flatMap(({ cards }) => cards)
  const mine = open.filter(({ assignees }) => assignees.some(({ id }) => id === user_id))
  const times = columns.flatMap(({ cards }) => cards.map(({ updated_at }) => updated_at)).sort()
  return { ...board, open_cards: open.length, my_cards: mine.length, changed_at: times.at(-1) }
}
