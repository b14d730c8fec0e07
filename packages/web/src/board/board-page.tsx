import type { Card, Column, FullBoard } from '@lockstep/client'
import { localQueue } from '@lockstep/client/live'
import { type BoardState, useBoard } from '@lockstep/client/react'
import { useDeferredValue, useEffect, useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { keptBoard } from '../kept-data.ts'
import { currentBoard } from '../palette/overlay.ts'
import { me, session } from '../session.ts'
import { late, whenIdle } from '../ui/late.tsx'
import { useStore } from '../ui/store.ts'
import { boardApi } from './board-api.ts'
import { BoardHead } from './board-head.tsx'
import { BoardTools, BoardToolsProvider } from './board-tools.ts'
import { ClosedBoard } from './closed-board.tsx'
import { Connection, useConnection } from './connection.tsx'
import { isShown, parseFilter } from './filter.ts'
import { filterQuery, useFilter } from './filter-address.ts'
import { FilterBar } from './filter-bar.tsx'
import { useGlobalKeys } from './global-keys.ts'
import { Lanes } from './lanes.tsx'
import { Notices } from './notices.tsx'
import { AskingDialogs } from './pickers.tsx'
import { useBoardMarks } from './use-board-marks.ts'
import { useFileDrops } from './use-file-drops.ts'
import { useKeptBoard } from './use-kept-board.ts'
import { usePendingCards } from './use-pending-cards.ts'
import './board.css'

const panels = {
  c: late(async () => (await import('../card/card-dialog.tsx')).CardDialog),
  members: late(async () => (await import('../members/members-dialog.tsx')).MembersDialog),
  automations: late(async () => (await import('../automations/automations-dialog.tsx')).AutomationsDialog),
  activity: late(async () => (await import('../activity/activity-dialog.tsx')).ActivityDialog),
}
// Cards are opened most: by then the dialog is there.
whenIdle(() => void panels.c.fetch())

interface BoardPageProps {
  board_id: string
  panel: string | undefined
  item: string | undefined
}

const storage = localQueue(localStorage)

export function BoardPage({ board_id, panel, item }: BoardPageProps) {
  const user = me()
  const options = useMemo(
    () => ({ storage, userId: user.id, loadStored: () => keptBoard(board_id) }),
    [user.id, board_id],
  )
  const state = useBoard(boardApi, board_id, options)
  const [, navigate] = useLocation()
  const text = useFilter()
  // The letter is shown first, then the cards that fit it.
  const applied = useDeferredValue(text)
  const [tools] = useState(() => new BoardTools(board_id, user, state, (path) => navigate(path + filterQuery())))
  const revealed = useStore(tools.revealed)
  const shownIn = useShown(applied, user.id, revealed)
  tools.take(state, shownIn)
  useBoardMarks(tools)
  usePendingCards(tools, state)
  useGlobalKeys(tools)
  useFileDrops(tools)
  useKeptBoard(state, user.id, state.view !== undefined)
  useGoingOn(state)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter hides what the last one did
  useEffect(() => tools.hideAgain(), [text, tools])
  useEffect(() => () => tools.leave(), [tools])
  const { view } = state
  useEffect(() => {
    if (view) document.title = `${view.title} · Lockstep`
  }, [view?.title, view])

  const isClosed = state.status.phase === 'closed' && state.status.reason !== 'unauthorized'
  const isThere = view !== undefined && !isClosed
  useEffect(() => {
    if (!isThere) return
    currentBoard.set(tools)
    return () => currentBoard.set(undefined)
  }, [tools, isThere])

  if (isClosed) return <ClosedBoard state={state} title={view?.title} />
  if (!view) return <BoardSkeleton state={state} />
  const Panel = panels[panel as keyof typeof panels]
  return (
    <BoardToolsProvider value={tools}>
      <OpenBoard
        view={view}
        state={state}
        text={text}
        is_filtered={parseFilter(applied) !== undefined}
        shownIn={shownIn}
      />
      <AskingDialogs />
      {Panel && <Panel key={item} view={view} item={item} />}
    </BoardToolsProvider>
  )
}

interface OpenBoardProps {
  view: FullBoard
  state: BoardState
  /** The filter. */
  text: string
  /** Whether it is applied yet. */
  is_filtered: boolean
  shownIn: (column: Column) => readonly Card[]
}

function OpenBoard({ view, state, text, is_filtered, shownIn }: OpenBoardProps) {
  const told = useConnection(state)
  return (
    <>
      <BoardHead view={view} state={state} told={told} />
      <Connection told={told} onRetry={state.retry} />
      <Notices failedChanges={state.failedChanges} dismiss={state.dismiss} />
      <FilterBar view={view} text={text} />
      <Lanes view={view} shownIn={shownIn} is_filtered={is_filtered} />
    </>
  )
}

/** Goes on where the session ended, with all that waits, once the user has logged in again. */
function useGoingOn({ status: { reason }, retry }: BoardState) {
  const isIn = useStore(session).state === 'in'
  useEffect(() => {
    if (isIn && reason === 'unauthorized') retry()
  }, [isIn, reason, retry])
}

/** The cards of a lane that a filter shows, and those that are revealed: the same list as before as long as lane and filter are the same. */
function useShown(text: string, me_id: string, revealed: ReadonlySet<string>): (column: Column) => readonly Card[] {
  return useMemo(() => {
    const filter = parseFilter(text)
    if (!filter) return ({ cards }: Column) => cards
    const known = new WeakMap<readonly Card[], readonly Card[]>()
    return ({ cards }: Column) => {
      const shown = known.get(cards) ?? cards.filter((card) => isShown(card, filter, me_id) || revealed.has(card.id))
      known.set(cards, shown)
      return shown
    }
  }, [text, me_id, revealed])
}

function BoardSkeleton({ state }: { state: BoardState }) {
  const isAway = state.status.phase === 'offline'
  return (
    <main id="main" className="board-skeleton" aria-busy="true">
      <p role="status">
        {isAway ? 'The service cannot be reached. The board comes as soon as it answers.' : 'Loading…'}
      </p>
      <div aria-hidden="true">
        {[3, 2, 4].map((cards) => (
          <div key={cards} className="lane">
            {Array.from({ length: cards }, (_, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
              <div key={i} className="card" />
            ))}
          </div>
        ))}
      </div>
    </main>
  )
}
