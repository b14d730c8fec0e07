import type { FullBoard, ListedBoard } from '@lockstep/client'
import { readCachedBoard, readCachedBoardIds, readCachedBoardList } from '../offline-cache.ts'

/** A board of the list. If only its content is saved, the time of its last change may be unknown. */
export type ShownBoard = Omit<ListedBoard, 'changed_at'> & { changed_at: string | undefined }

export interface OfflineBoards {
  boards: readonly ShownBoard[]
  /** The boards whose content is saved in the browser. */
  savedIds: ReadonlySet<string>
}

/**
 * The boards of the last list, and those that were opened since. What is saved of a board may be newer than the list, so its
 * cards are counted.
 */
export async function readOfflineBoards(user_id: string): Promise<OfflineBoards> {
  const [listed, savedIds] = await Promise.all([readCachedBoardList(), readCachedBoardIds()])
  const saved = await Promise.all(savedIds.map(async (id) => (await readCachedBoard(id))?.read()))
  const opened = new Map<string, ShownBoard>()
  for (const board of saved) if (board) opened.set(board.id, summaryOf(board, user_id))
  const known = listed.map((board) => withCounts(board, opened.get(board.id)))
  const added = [...opened.values()].filter(({ id }) => !listed.some((board) => board.id === id))
  return { boards: [...known, ...added], savedIds: new Set(savedIds) }
}

function withCounts(board: ListedBoard, saved: ShownBoard | undefined): ShownBoard {
  if (!saved) return board
  const { open_cards, my_cards, changed_at = '' } = saved
  return { ...board, open_cards, my_cards, changed_at: changed_at > board.changed_at ? changed_at : board.changed_at }
}

function summaryOf({ columns, ...board }: FullBoard, user_id: string): ShownBoard {
  const open = columns.filter(({ is_done_column }) => !is_done_column).flatMap(({ cards }) => cards)
  const mine = open.filter(({ assignees }) => assignees.some(({ id }) => id === user_id))
  const times = columns.flatMap(({ cards }) => cards.map(({ updated_at }) => updated_at)).sort()
  return { ...board, open_cards: open.length, my_cards: mine.length, changed_at: times.at(-1) }
}
