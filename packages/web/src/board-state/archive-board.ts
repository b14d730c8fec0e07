import type { Board } from '@lockstep/client'
import { client } from '../session.ts'
import { errorMessage } from '../ui/failure.tsx'
import { showToast } from '../ui/toasts.ts'
import { t } from './messages.ts'

/** Archives or restores a board, with a toast that reverts it. Members see it at once; only owners may do it. */
export async function setBoardArchived(
  { id, title }: Pick<Board, 'id' | 'title'>,
  isArchived: boolean,
  onChange: (board: Board) => void = () => {},
): Promise<void> {
  try {
    onChange(await client[isArchived ? 'archiveBoard' : 'restoreBoard']({ board_id: id }, { maxTries: 2 }))
    const revert = () => void setBoardArchived({ id, title }, !isArchived, onChange)
    showToast((isArchived ? t.archivedBoard : t.restoredBoard)({ title }), { label: t.undo, run: revert })
  } catch (error) {
    showToast(errorMessage(error))
  }
}
