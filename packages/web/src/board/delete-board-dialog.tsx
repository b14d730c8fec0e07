import type { FullBoard } from '@lockstep/client'
import { type FormEvent, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { client } from '../session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Failure } from '../ui/failure.tsx'
import { showToast } from '../ui/toasts.ts'
import { t } from './messages.ts'

/** Asks for the board's name, because this deletes everything for all members. */
export function DeleteBoardDialog({ view, onClose }: { view: FullBoard; onClose: () => void }) {
  const tools = useTools()
  const [text, setText] = useState('')
  const [failure, setFailure] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const isSure = text.trim() === view.title.trim()
  const remove = async (event: FormEvent) => {
    event.preventDefault()
    if (!isSure || isBusy) return
    setBusy(true)
    setFailure(undefined)
    try {
      await client.deleteBoard({ board_id: view.id })
      tools.navigate('/boards')
      showToast(t.deletedBoard({ title: view.title }))
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }
  return (
    <Dialog title={t.deleteBoardTitle({ title: view.title })} size="small" onClose={onClose}>
      <form className="dialog-body" onSubmit={(event) => void remove(event)}>
        <p>{view.members.length > 1 ? t.deletesSharedBoard : t.deletesOwnBoard}</p>
        <label className="stack">
          {t.typeBoardName}
          <input
            className="input"
            value={text}
            placeholder={view.title}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        {failure !== undefined && <Failure error={failure} />}
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t.cancel}
          </button>
          <button type="submit" className="button is-danger" disabled={!isSure || isBusy}>
            {isBusy ? t.deleting : t.deleteBoard}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
