import { isLockstepError } from '@lockstep/client'
import { useEffect, useRef, useState } from 'react'
import { leaveBoard, reloadBoards } from '../board-state/board-list.ts'
import type { ShownBoard } from '../board-state/offline-boards.ts'
import { me } from '../session.ts'
import { confirmAction } from '../ui/confirm.ts'
import { errorMessage } from '../ui/failure.tsx'
import { focusAfterRender } from '../ui/focus.ts'
import { openLayers } from '../ui/layers.ts'
import { showToast } from '../ui/toasts.ts'
import { t } from './messages.ts'

interface LeaveBoardsProps {
  /** The boards that are loaded, and those of them that match the search. */
  readonly boards: readonly ShownBoard[]
  readonly shown: readonly ShownBoard[]
  /** The ids of the selected boards; undefined unless boards are being selected. */
  readonly selection: ReadonlySet<string> | undefined
  readonly onSelect: (selection: ReadonlySet<string> | undefined) => void
}

/** Selects boards, and leaves them together. */
export function LeaveBoards({ boards, shown, selection, onSelect }: LeaveBoardsProps) {
  const selectButton = useRef<HTMLButtonElement>(null)
  if (selection)
    return (
      <Selection
        boards={boards.filter(({ id }) => selection.has(id))}
        onSelect={onSelect}
        onSelectAll={() => onSelect(new Set(shown.map(({ id }) => id)))}
        onClose={() => {
          onSelect(undefined)
          focusAfterRender(() => selectButton.current)
        }}
      />
    )
  const begin = () => {
    onSelect(new Set())
    focusAfterRender(() => document.querySelector<HTMLElement>('.tiles input'))
  }
  return (
    <div className="boards-selection">
      <button ref={selectButton} type="button" className="button is-quiet" onClick={begin}>
        {t.select}
      </button>
    </div>
  )
}

interface SelectionProps extends Pick<LeaveBoardsProps, 'onSelect'> {
  /** The selected boards. */
  readonly boards: readonly ShownBoard[]
  readonly onSelectAll: () => void
  readonly onClose: () => void
}

function Selection({ boards, onSelect, onSelectAll, onClose }: SelectionProps) {
  const [left, setLeft] = useState<number>()
  const [result, setResult] = useState<LeaveResult>(noResult)
  const isBusy = left !== undefined
  useEffect(() => {
    const onKeyDown = ({ key, defaultPrevented }: KeyboardEvent) => {
      if (key === 'Escape' && !defaultPrevented && !isBusy && openLayers().length === 0) onClose()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  })
  const leave = async () => {
    if (isBusy || boards.length === 0) return
    const count = boards.length
    if (!(await confirmAction({ title: t.leaveTitle({ count }), text: t.leaveText, action: t.leave }))) return
    setResult(noResult)
    const outcome = await leaveAll(boards, setLeft)
    const { remaining } = outcome
    setLeft(undefined)
    setResult(outcome)
    onSelect(new Set(remaining.map(({ id }) => id)))
    if (remaining.length < count) showToast(t.leftBoards({ count: count - remaining.length }))
  }
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div className="boards-selection is-open" role="group" aria-label={t.select}>
        <span role="status">{isBusy ? t.leaving({ count: left }) : t.selected({ count: boards.length })}</span>
        <button
          type="button"
          className="button is-quiet"
          aria-disabled={isBusy}
          onClick={() => isBusy || onSelectAll()}
        >
          {t.selectAll}
        </button>
        <button
          type="button"
          className="button"
          aria-disabled={isBusy || boards.length === 0}
          onClick={() => void leave()}
        >
          {t.leave}
        </button>
        <button type="button" className="button is-quiet" aria-disabled={isBusy} onClick={() => isBusy || onClose()}>
          {t.cancel}
        </button>
      </div>
      {result.remaining.length > 0 && (
        <div className="boards-refusals" role="alert">
          <p>{t.notLeft({ count: result.remaining.length })}</p>
          <ul>
            {result.refused.map(({ id, text }) => (
              <li key={id} dir="auto">
                {text}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  )
}

interface Refusal {
  id: string
  text: string
}

interface LeaveResult {
  /** The boards that the user is still on. */
  remaining: readonly ShownBoard[]
  /** Why. */
  refused: readonly Refusal[]
}
const noResult: LeaveResult = { remaining: [], refused: [] }

/** Leaves boards one after the other. */
async function leaveAll(boards: readonly ShownBoard[], onProgress: (left: number) => void): Promise<LeaveResult> {
  const { id: user_id } = me()
  const remaining: ShownBoard[] = []
  const refused: Refusal[] = []
  for (const [i, board] of boards.entries()) {
    onProgress(boards.length - i)
    try {
      await leaveBoard(board.id, user_id)
    } catch (error) {
      const reason = isLockstepError(error, 'last_owner') ? t.onlyOwner : errorMessage(error)
      refused.push({ id: board.id, text: t.notLeftBoard({ title: board.title, reason }) })
      remaining.push(board)
      if (isLockstepError(error, 'last_owner')) continue
      // The others would fail in the same way.
      remaining.push(...boards.slice(i + 1))
      break
    }
  }
  void reloadBoards()
  return { remaining, refused }
}
