import type { Board } from '@lockstep/client'
import { type FormEvent, useCallback, useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { completeBoard, createBoard } from '../board-state/create-board.ts'
import { openPalette } from '../board-state/overlay.ts'
import { client, me } from '../session.ts'
import { AccountMenu } from '../settings/account-menu.tsx'
import { errorMessage, Failure } from '../ui/failure.tsx'
import { Icon } from '../ui/icon.tsx'
import { Keys } from '../ui/keys.tsx'
import { useMounted } from '../ui/mounted.ts'
import { Heading, Mark } from '../ui/page.tsx'
import { Avatars } from '../ui/people.tsx'
import { showToast } from '../ui/toasts.tsx'
import { TooLong, tooLong } from '../ui/too-long.tsx'
import { handleBoardListKeys, handleTileKeys } from './boards-keys.ts'
import './boards.css'

/** With more boards than this, a search field is shown. */
const SEARCH_THRESHOLD = 8

export function BoardsPage() {
  const [boards, setBoards] = useState<Board[]>()
  const [failure, setFailure] = useState<unknown>()
  const [text, setText] = useState('')
  const load = useCallback(() => {
    setFailure(undefined)
    client.listBoards().then((found) => {
      setBoards(found)
      // If this fails, the next visit tries again.
      completeBoard(found).catch(() => {})
    }, setFailure)
  }, [])
  useEffect(load, [load])

  const found = boards?.filter(({ title }) => title.toLowerCase().includes(text.toLowerCase()))
  return (
    <>
      <header className="top">
        <Mark />
        <Heading title="Boards" />
        <span className="spacer" />
        <button type="button" className="filter-chip filter-command" onClick={openPalette}>
          Search… <Keys keys="Ctrl K" />
        </button>
        <AccountMenu />
      </header>
      <main id="main" className="boards">
        <div className="boards-bar">
          <NewBoard />
          {boards && boards.length > SEARCH_THRESHOLD && (
            <input
              type="search"
              className="input boards-find"
              aria-label="Find board"
              placeholder="Find board"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </div>
        {failure !== undefined && <Failure error={failure} onRetry={load} />}
        {!boards && failure === undefined && <Skeleton />}
        {boards?.length === 0 && <p className="boards-empty">Create your first board: enter a name above.</p>}
        {found && found.length > 0 && <BoardTiles boards={found} />}
        {found?.length === 0 && text && <p className="boards-empty">No boards match “{text}”</p>}
      </main>
    </>
  )
}

function BoardTiles({ boards }: { boards: Board[] }) {
  return (
    <ul className="tiles" onKeyDown={(event) => handleTileKeys(event, [...event.currentTarget.querySelectorAll('a')])}>
      {boards.map((board) => (
        <li key={board.id}>
          <Link href={`/b/${board.id}`} className="tile">
            <strong>{board.title}</strong>
            {board.description && <span className="tile-text">{board.description}</span>}
            <span className="tile-foot">
              <Avatars people={board.members.map(({ user }) => user)} label="Members" />
              <span className="chip">{board.members.find(({ user_id }) => user_id === me().id)?.role}</span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

function NewBoard() {
  const [title, setTitle] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [, navigate] = useLocation()
  const input = useRef<HTMLInputElement>(null)
  const isMounted = useMounted()
  useEffect(() => {
    addEventListener('keydown', handleBoardListKeys)
    return () => removeEventListener('keydown', handleBoardListKeys)
  }, [])
  const create = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    if (!title.trim() || tooLong(title)) return input.current?.focus()
    setBusy(true)
    try {
      const board_id = await createBoard(title.trim())
      // The user may have opened another board in the meantime.
      if (isMounted.current) navigate(`/b/${board_id}`)
    } catch (error) {
      showToast(errorMessage(error))
      setBusy(false)
    }
  }
  return (
    <form className="new-board" onSubmit={(event) => void create(event)}>
      <input
        ref={input}
        className="input"
        aria-label="Board name"
        placeholder="Board name"
        value={title}
        readOnly={isBusy}
        onChange={(event) => setTitle(event.target.value)}
      />
      <TooLong text={title} />
      <button type="submit" className="button is-primary" aria-disabled={isBusy}>
        {isBusy ? (
          'Creating…'
        ) : (
          <>
            <Icon name="plus" /> Create board <Keys keys="N" />
          </>
        )}
      </button>
    </form>
  )
}

function Skeleton() {
  return (
    <ul className="tiles is-waiting" aria-hidden="true">
      {['a', 'b', 'c', 'd', 'e', 'f'].map((key) => (
        <li key={key} className="tile" />
      ))}
    </ul>
  )
}
