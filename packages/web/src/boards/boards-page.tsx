import { type Board, isLockstepError } from '@lockstep/client'
import { useEffect, useRef, useState } from 'react'
import { Bell } from '../bell/bell.tsx'
import { setBoardArchived } from '../board-state/archive-board.ts'
import { loadMoreBoards, reloadBoards, replaceBoard } from '../board-state/board-list.ts'
import type { ShownBoard } from '../board-state/offline-boards.ts'
import { openPalette } from '../board-state/overlay.ts'
import { AccountMenu } from '../settings/account-menu.tsx'
import { Failure } from '../ui/failure.tsx'
import { focusAfterRender } from '../ui/focus.ts'
import { Keys } from '../ui/keys.tsx'
import { Heading, Mark } from '../ui/page.tsx'
import { BoardTile } from './board-tile.tsx'
import { handleTileKeys } from './boards-keys.ts'
import { LeaveBoards } from './leave-boards.tsx'
import { t } from './messages.ts'
import { NewBoard } from './new-board.tsx'
import { useBoardList } from './use-board-list.ts'
import { useNewBoard } from './use-new-board.ts'
import './boards.css'

/** With more boards than this, a search field is shown. */
const SEARCH_THRESHOLD = 8

export function BoardsPage() {
  const { boards, savedIds, hasMore, failure, now } = useBoardList()
  const { creating, create, createTutorial } = useNewBoard()
  const [text, setText] = useState('')
  const [selection, setSelection] = useState<ReadonlySet<string>>()
  const isEmpty = boards?.length === 0
  const found = boards?.filter(({ title }) => title.toLowerCase().includes(text.toLowerCase()))
  const open = found?.filter(({ archived_at }) => !archived_at) ?? []
  const archived = found?.filter(({ archived_at }) => archived_at) ?? []
  const isUnavailable = ({ id }: ShownBoard) => failure !== undefined && !savedIds.has(id)
  const select = (board_id: string, isSelected: boolean) =>
    setSelection((ids) => ids && new Set(isSelected ? [...ids, board_id] : [...ids].filter((id) => id !== board_id)))
  const tiles = { now, isUnavailable, selection, onSelect: select }
  return (
    <>
      <header className="top">
        <Mark />
        <Heading title={t.boards} />
        <span className="spacer" />
        <button type="button" className="button is-quiet" onClick={openPalette}>
          {t.search} <Keys keys="Ctrl K" />
        </button>
        <Bell />
        <AccountMenu />
      </header>
      <main id="main" className={isEmpty ? 'boards is-empty' : 'boards'}>
        {isEmpty && <Welcome />}
        {/* Always at this place, so that a text typed while the boards load is kept. */}
        <div className="boards-bar">
          <NewBoard isCreating={creating === 'board'} isBusy={creating !== undefined} onCreate={create} />
          {boards && boards.length > SEARCH_THRESHOLD && (
            <input
              type="search"
              className="input boards-find"
              dir="auto"
              aria-label={t.findBoard}
              placeholder={t.findBoard}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </div>
        {boards && !isEmpty && (
          <LeaveBoards boards={boards} shown={found ?? []} selection={selection} onSelect={setSelection} />
        )}
        {isEmpty && <TutorialOffer isCreating={creating === 'tutorial'} isBusy={!!creating} onStart={createTutorial} />}
        {failure !== undefined && (
          <ListFailure failure={failure} hasBoards={boards !== undefined} onRetry={() => void reloadBoards()} />
        )}
        {!boards && failure === undefined && <Skeleton />}
        {open.length > 0 && <Tiles boards={open} {...tiles} />}
        {archived.length > 0 && (
          // While searching, what is found is not hidden.
          <details className="boards-archived" {...(text && { open: true })}>
            <summary>{t.archived({ count: archived.length })}</summary>
            <Tiles boards={archived} {...tiles} />
          </details>
        )}
        {found?.length === 0 && text && !hasMore && <p className="boards-none">{t.noMatch({ text })}</p>}
        {hasMore && <MoreBoards loaded={boards?.length ?? 0} />}
      </main>
    </>
  )
}

interface TilesProps {
  readonly boards: readonly ShownBoard[]
  readonly now: number
  readonly isUnavailable: (board: ShownBoard) => boolean
  /** The selected boards, while boards are being selected. */
  readonly selection: ReadonlySet<string> | undefined
  readonly onSelect: (board_id: string, isSelected: boolean) => void
}

function Tiles({ boards, now, isUnavailable, selection, onSelect }: TilesProps) {
  const move = (board: Board) => {
    replaceBoard(board)
    // The tile with the focus is in the other list now.
    focusAfterRender(() => document.querySelector<HTMLElement>('.tiles a, .boards-archived summary, h1'))
  }
  return (
    <ul
      className="tiles"
      onKeyDown={(event) => handleTileKeys(event, [...event.currentTarget.querySelectorAll<HTMLElement>('a, input')])}
    >
      {boards.map((board) => (
        <li key={board.id}>
          <BoardTile
            board={board}
            now={now}
            isUnavailable={isUnavailable(board)}
            isSelected={selection?.has(board.id)}
            onSelect={(isSelected) => onSelect(board.id, isSelected)}
            onArchive={() => void setBoardArchived(board, !board.archived_at, move)}
          />
        </li>
      ))}
    </ul>
  )
}

/** Loads more boards when the end of the list comes into view, also while a search shows few of them. */
function MoreBoards({ loaded }: { readonly loaded: number }) {
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    // A new observer for every page: it reports at once whether the end is in view.
    const observer = new IntersectionObserver((entries) => {
      // On a busy page one call has several entries, oldest first.
      if (loaded > 0 && entries.at(-1)?.isIntersecting) void loadMoreBoards()
    })
    if (button.current) observer.observe(button.current)
    return () => observer.disconnect()
  }, [loaded])
  return (
    <button ref={button} type="button" className="button boards-more" onClick={() => void loadMoreBoards()}>
      {t.moreBoards}
    </button>
  )
}

function Welcome() {
  return (
    <div className="boards-welcome">
      <Mark />
      <h2>{t.welcome}</h2>
      <p>{t.welcomeText}</p>
    </div>
  )
}

interface TutorialOfferProps {
  readonly isCreating: boolean
  /** This or another board is being created. */
  readonly isBusy: boolean
  readonly onStart: () => void
}

function TutorialOffer({ isCreating, isBusy, onStart }: TutorialOfferProps) {
  return (
    <div className="boards-tutorial">
      <p>{t.tutorialText}</p>
      <button type="button" className="button" aria-disabled={isBusy} onClick={onStart}>
        {isCreating ? t.creatingTutorial : t.startTutorial}
      </button>
    </div>
  )
}

interface ListFailureProps {
  readonly failure: unknown
  readonly hasBoards: boolean
  readonly onRetry: () => void
}

/** Without a connection, the saved boards are still usable. */
function ListFailure({ failure, hasBoards, onRetry }: ListFailureProps) {
  const isUnreachable = isLockstepError(failure, 'network_failed', 'timed_out')
  if (!hasBoards || !isUnreachable) return <Failure error={failure} onRetry={onRetry} />
  return (
    <p className="boards-notice" role="status">
      {t.unreachable}
    </p>
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
