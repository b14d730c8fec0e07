import type { Board } from '@lockstep/client'
import { type FormEvent, useCallback, useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { openPalette } from '../palette/overlay.ts'
import { client, me } from '../session.ts'
import { AccountMenu } from '../settings/account-menu.tsx'
import { Failure, sentenceOf } from '../ui/failure.tsx'
import { Icon } from '../ui/icon.tsx'
import { Keys } from '../ui/keys.tsx'
import { useMounted } from '../ui/mounted.ts'
import { Heading, Mark } from '../ui/page.tsx'
import { Avatars } from '../ui/people.tsx'
import { showToast } from '../ui/toasts.tsx'
import { TooLong, tooLong } from '../ui/too-long.tsx'
import { steerBoards, steerTiles } from './boards-keys.ts'
import { completeBoard, makeBoard } from './make-board.ts'
import './boards.css'

/** From so many boards on, a field to find one. */
const MANY = 8

export function BoardsPage() {
  const [boards, setBoards] = useState<Board[]>()
  const [failure, setFailure] = useState<unknown>()
  const [text, setText] = useState('')
  const load = useCallback(() => {
    setFailure(undefined)
    client.listBoards().then((found) => {
      setBoards(found)
      // What fails here is tried again at the next visit.
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
          Command <Keys keys="Ctrl K" />
        </button>
        <AccountMenu />
      </header>
      <main id="main" className="boards">
        <div className="boards-bar">
          <NewBoard />
          {boards && boards.length > MANY && (
            <input
              type="search"
              className="input boards-find"
              aria-label="Find a board"
              placeholder="Find a board"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </div>
        {failure !== undefined && <Failure error={failure} onRetry={load} />}
        {!boards && failure === undefined && <Skeleton />}
        {boards?.length === 0 && (
          <p className="boards-empty">No boards yet. Give the first one a title above, and you are on it.</p>
        )}
        {found && found.length > 0 && <BoardTiles boards={found} />}
        {found?.length === 0 && text && <p className="boards-empty">No board is called “{text}”.</p>}
      </main>
    </>
  )
}

function BoardTiles({ boards }: { boards: Board[] }) {
  return (
    <ul className="tiles" onKeyDown={(event) => steerTiles(event, [...event.currentTarget.querySelectorAll('a')])}>
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
    addEventListener('keydown', steerBoards)
    return () => removeEventListener('keydown', steerBoards)
  }, [])
  const create = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    if (!title.trim() || tooLong(title)) return input.current?.focus()
    setBusy(true)
    try {
      const board_id = await makeBoard(title.trim())
      // The user may have opened another board meanwhile.
      if (isMounted.current) navigate(`/b/${board_id}`)
    } catch (error) {
      showToast(sentenceOf(error))
      setBusy(false)
    }
  }
  return (
    <form className="new-board" onSubmit={(event) => void create(event)}>
      <input
        ref={input}
        className="input"
        aria-label="Title of the new board"
        placeholder="A new board"
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
