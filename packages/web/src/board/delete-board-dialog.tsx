import type { FullBoard } from '@lockstep/client'
import { type FormEvent, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { client } from '../session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Failure } from '../ui/failure.tsx'
import { showToast } from '../ui/toasts.tsx'

/** Asks for the board's name, because this deletes everything for all members. */
export function DeleteBoardDialog({ view, onClose }: { view: FullBoard; onClose: () => void }) {
  const tools = useTools()
  const [text, setText] = useState('')
  const [failure, setFailure] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const isSure = text.trim() === view.title.trim()
  const cards = view.columns.reduce((sum, column) => sum + column.cards.length, 0)
  const remove = async (event: FormEvent) => {
    event.preventDefault()
    if (!isSure || isBusy) return
    setBusy(true)
    setFailure(undefined)
    try {
      await client.deleteBoard({ board_id: view.id })
      tools.navigate('/boards')
      showToast(`Deleted “${view.title}”`)
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }
  return (
    <Dialog title={`Delete “${view.title}”`} size="small" onClose={onClose}>
      <form className="dialog-body" onSubmit={(event) => void remove(event)}>
        <p>
          This deletes the board{view.members.length > 1 && ` for all ${view.members.length} members`}, with{' '}
          {cards === 1 ? 'its card' : `its ${cards} cards`} and all files. This can’t be undone.
        </p>
        <label className="stack">
          Type the board name to confirm
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
            Cancel
          </button>
          <button type="submit" className="button is-danger" disabled={!isSure || isBusy}>
            {isBusy ? 'Deleting…' : 'Delete board'}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
