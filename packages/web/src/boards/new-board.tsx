import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Icon } from '../ui/icon.tsx'
import { Keys } from '../ui/keys.tsx'
import { TooLong, tooLong } from '../ui/too-long.tsx'
import { handleBoardListKeys } from './boards-keys.ts'
import { t } from './messages.ts'

interface NewBoardProps {
  /** The board is being created. */
  readonly isCreating: boolean
  /** This or another board is being created. */
  readonly isBusy: boolean
  readonly onCreate: (title: string) => void
}

/** The form that creates a board. */
export function NewBoard({ isCreating, isBusy, onCreate }: NewBoardProps) {
  const [title, setTitle] = useState('')
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    addEventListener('keydown', handleBoardListKeys)
    return () => removeEventListener('keydown', handleBoardListKeys)
  }, [])
  const create = (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    if (title.trim() && !tooLong(title)) onCreate(title.trim())
    else input.current?.focus()
  }
  return (
    <form className="new-board" onSubmit={create}>
      <input
        ref={input}
        className="input"
        dir="auto"
        aria-label={t.boardName}
        placeholder={t.boardName}
        value={title}
        readOnly={isCreating}
        onChange={(event) => setTitle(event.target.value)}
      />
      <TooLong text={title} />
      <button type="submit" className="button is-primary" aria-disabled={isBusy}>
        {isCreating ? (
          t.creatingBoard
        ) : (
          <>
            <Icon name="plus" /> {t.createBoard} <Keys keys="N" />
          </>
        )}
      </button>
    </form>
  )
}
