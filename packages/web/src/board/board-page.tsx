import type { Card, Column, FullBoard } from '@lockstep/client'
import { type BoardState, useBoard } from '@lockstep/client/react'
import { useDeferredValue, useEffect, useInsertionEffect, useLayoutEffect, useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { useReadCard } from '../bell/unread.ts'
import { boardApi } from '../board-state/board-api.ts'
import { BoardTools, BoardToolsProvider, ReadOnlyProvider, useReadOnly, useTools } from '../board-state/board-tools.ts'
import { changeQueue, useWithheldChanges } from '../board-state/change-queue.ts'
import { isShown, parseFilter } from '../board-state/filter.ts'
import { filterQuery, useFilter } from '../board-state/filter-address.ts'
import { currentBoard } from '../board-state/overlay.ts'
import { ShownBoard, ShownBoardProvider, useShownBoard } from '../board-state/shown-board.ts'
import { readCachedBoard } from '../offline-cache.ts'
import { loginOfChange, me, session } from '../session.ts'
import { lazyComponent, whenIdle } from '../ui/lazy-component.tsx'
import { useStore, useStorePart } from '../ui/store.ts'
import { setTitle } from '../ui/title.ts'
import { today, useCurrentDay } from '../ui/today.ts'
import { ArchivedBanner } from './archived-banner.tsx'
import { BoardHead } from './board-head.tsx'
import { useBoardPageKeys } from './board-page-keys.ts'
import { ClosedBoard } from './closed-board.tsx'
import { Columns } from './columns.tsx'
import { ConnectionBanner, useConnection } from './connection-banner.tsx'
import { FailedChanges } from './failed-changes.tsx'
import { ActiveFilter } from './filter-bar.tsx'
import { t } from './messages.ts'
import { shownPerson } from './shown-person.ts'
import { useCachedBoard } from './use-cached-board.ts'
import { useFileDrops } from './use-file-drops.ts'
import { useMoveAnimations } from './use-move-animations.ts'
import { usePendingCards } from './use-pending-cards.ts'
import { useRemoteMarks } from './use-remote-marks.ts'
import './board.css'

const panels = {
  c: lazyComponent(async () => (await import('../card-dialog/card-dialog.tsx')).CardDialog),
  members: lazyComponent(async () => (await import('../members/members-dialog.tsx')).MembersDialog),
  automations: lazyComponent(async () => (await import('../automations/automations-dialog.tsx')).AutomationsDialog),
  activity: lazyComponent(async () => (await import('../activity/activity-dialog.tsx')).ActivityDialog),
  webhooks: lazyComponent(async () => (await import('../webhooks/webhooks-dialog.tsx')).WebhooksDialog),
  removed: lazyComponent(async () => (await import('../removed/removed-dialog.tsx')).RemovedDialog),
}
const CardPickers = lazyComponent(async () => (await import('./card-pickers.tsx')).CardPickers)
const PausedWebhooks = lazyComponent(async () => (await import('../webhooks/paused-webhooks.tsx')).PausedWebhooks)
const PersonPopover = lazyComponent(async () => (await import('./person-popover.tsx')).PersonPopover)

interface BoardPageProps {
  board_id: string
  panel: string | undefined
  item: string | undefined
}

export function BoardPage({ board_id, panel, item }: BoardPageProps) {
  const user = me()
  const options = useMemo(
    () => ({
      storage: changeQueue,
      userId: user.id,
      login: loginOfChange,
      loadStored: () => readCachedBoard(board_id),
    }),
    [user.id, board_id],
  )
  const state = useWithheldChanges(useBoard(boardApi, board_id, options), user.id, board_id)
  const [, navigate] = useLocation()
  const text = useFilter()
  // Render the typed text first, then the filtered cards.
  const applied = useDeferredValue(text)
  // A double click must not add two entries to the history: Back would close the panel only the second time.
  const go = (path: string) => navigate(path + filterQuery(), { replace: location.pathname === `/app${path}` })
  const [tools] = useState(() => {
    const board = new ShownBoard(state, ({ cards }) => cards, user.id)
    return new BoardTools(board_id, user, board, go)
  })
  const revealed = useStore(tools.revealed)
  useCurrentDay()
  const shownIn = useShown(applied, user.id, revealed)
  const board = useMemo(() => new ShownBoard(state, shownIn, user.id), [state, shownIn, user.id])
  // Runs before the other effects of all components, which use it.
  useInsertionEffect(() => tools.update(board), [tools, board])
  useMoveAnimations(tools, state.view)
  useRemoteMarks(tools)
  usePendingCards(tools, state)
  useBoardPageKeys(tools)
  useFileDrops(tools)
  useCachedBoard(state, user.id, state.view !== undefined)
  useReconnectAfterLogin(state)
  useReadCard(panel === 'c' ? item : undefined)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new filter resets the revealed cards
  useEffect(() => tools.resetRevealed(), [text, tools])
  useEffect(() => () => tools.leave(), [tools])
  const { view } = state
  useEffect(() => {
    if (view) setTitle(view.title)
  }, [view?.title, view])

  const isClosed = state.status.phase === 'closed' && state.status.reason !== 'unauthorized'
  const isOpen = view !== undefined && !isClosed
  const isLive = state.status.phase === 'live'
  // The initial load is over then. The card dialog is opened most.
  useEffect(() => {
    if (isLive) whenIdle(() => void panels.c.fetch(), 0)
  }, [isLive])
  useEffect(() => {
    if (!isOpen) return
    currentBoard.set(tools)
    return () => currentBoard.set(undefined)
  }, [tools, isOpen])

  if (isClosed) return <ClosedBoard state={state} title={view?.title} />
  if (!view) return <BoardSkeleton state={state} />
  const Panel = panels[panel as keyof typeof panels]
  return (
    <BoardToolsProvider value={tools}>
      <ShownBoardProvider value={board}>
        <ReadOnlyProvider value={board.isReadOnly}>
          <OpenBoard
            view={view}
            state={state}
            text={text}
            isFiltered={parseFilter(applied) !== undefined}
            shownIn={shownIn}
          />
          <Popovers view={view} />
          {/* A dialog with a list stays while a row of it is shown. */}
          {Panel && <Panel key={panel === 'c' ? item : panel} view={view} item={item} />}
        </ReadOnlyProvider>
      </ShownBoardProvider>
    </BoardToolsProvider>
  )
}

function Popovers({ view }: { view: FullBoard }) {
  const tools = useTools()
  const isReadOnly = useReadOnly()
  const hasPicker = useStorePart(tools.picker, (picker) => picker !== undefined) && !isReadOnly
  const hasPerson = useStorePart(shownPerson, (person) => person !== undefined)
  return (
    <>
      {hasPicker && <CardPickers />}
      {hasPerson && <PersonPopover view={view} />}
    </>
  )
}

interface OpenBoardProps {
  view: FullBoard
  state: BoardState
  /** The text of the filter. */
  text: string
  /** Whether a filter is applied to the cards that are shown. */
  isFiltered: boolean
  shownIn: (column: Column) => readonly Card[]
}

function OpenBoard({ view, state, text, isFiltered, shownIn }: OpenBoardProps) {
  const connection = useConnection(state)
  const tools = useTools()
  const { isOwner } = useShownBoard()
  const isOffline = connection.kind === 'offline'
  // Before the browser paints the banner.
  useLayoutEffect(() => tools.isOffline.set(isOffline), [tools, isOffline])
  return (
    <>
      <BoardHead view={view} state={state} connection={connection} text={text} />
      <ConnectionBanner connection={connection} onRetry={state.retry} />
      <ArchivedBanner />
      {isOwner && <PausedWebhooks />}
      <FailedChanges failedChanges={state.failedChanges} dismiss={state.dismiss} />
      <ActiveFilter view={view} text={text} />
      <Columns view={view} shownIn={shownIn} isFiltered={isFiltered} />
    </>
  )
}

/** Reconnects and sends queued changes after the user has logged in again. */
function useReconnectAfterLogin({ status: { reason }, retry }: BoardState) {
  const isIn = useStore(session).state === 'in'
  useEffect(() => {
    if (isIn && reason === 'unauthorized') retry()
  }, [isIn, reason, retry])
}

/** The visible cards of a column. Memoized: the same list while column and filter are unchanged. */
function useShown(text: string, userId: string, revealed: ReadonlySet<string>): (column: Column) => readonly Card[] {
  const day = useStore(today)
  return useMemo(() => {
    const filter = parseFilter(text)
    if (!filter) return ({ cards }: Column) => cards
    const cache = new WeakMap<Column, readonly Card[]>()
    return (column: Column) => {
      const context = { meId: userId, isDone: column.is_done_column, today: day }
      const isVisible = (card: Card) => isShown(card, filter, context) || revealed.has(card.id)
      const shown = cache.get(column) ?? column.cards.filter(isVisible)
      cache.set(column, shown)
      return shown
    }
  }, [text, userId, revealed, day])
}

function BoardSkeleton({ state }: { state: BoardState }) {
  const isOffline = state.status.phase === 'offline'
  return (
    <main id="main" className="board-skeleton" aria-busy="true">
      <p role="status">{isOffline ? t.unreachable : t.loading}</p>
      <div aria-hidden="true">
        {[3, 2, 4].map((cards) => (
          <div key={cards} className="column">
            {Array.from({ length: cards }, (_, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the placeholders are identical
              <div key={i} className="card" />
            ))}
          </div>
        ))}
      </div>
    </main>
  )
}
