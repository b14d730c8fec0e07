import { useBoardEvents } from '@lockstep/client/react'
import { useEffect, useRef } from 'react'
import { boardApi } from '../board-state/board-api.ts'
import { useReadOnly, useTools } from '../board-state/board-tools.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { announce } from '../ui/announcer.tsx'
import { focusAfterRender } from '../ui/focus.ts'
import { t } from './messages.ts'

/** Banner above an archived board. Owners can restore it. */
export function ArchivedBanner() {
  const tools = useTools()
  const { isOwner } = useShownBoard()
  const isReadOnly = useReadOnly()
  const was = useRef(isReadOnly)
  useBoardEvents(boardApi, tools.board_id, (event) => {
    const isNow = event.type === 'board.updated' ? event.data.archived_at != null : tools.isReadOnly
    // A toast says it to the owner who did it.
    const isOwn = event.type !== 'resync' && event.user_id === tools.me.id
    if (isNow !== was.current && !isOwn) announce(isNow ? t.archivedNotice : t.boardRestored)
    was.current = isNow
  })
  useEffect(() => {
    if (!isReadOnly) return
    // They would open again, and take the focus, when the board is restored. The text of a new card is kept as a draft.
    for (const open of [tools.composing, tools.renaming, tools.picker]) open.set(undefined)
    focusAfterRender(() => document.querySelector<HTMLElement>('.board-head h1'))
  }, [isReadOnly, tools])
  if (!isReadOnly) return null
  return (
    <section className="banner" aria-label={t.archivedNotice}>
      <p>
        <b>{t.archivedNotice}</b> {isOwner ? t.archivedForOwners : t.archivedForMembers}
      </p>
      {isOwner && (
        <button
          type="button"
          className="button"
          onClick={() => {
            // This button disappears.
            document.querySelector<HTMLElement>('.board-head h1')?.focus()
            tools.setArchived(false)
          }}
        >
          {t.restore}
        </button>
      )}
    </section>
  )
}
