import type { RemovedItem } from '@lockstep/client'
import type { ReactNode } from 'react'
import { useShownBoard } from '../board-state/shown-board.ts'
import { t } from './messages.ts'
import { DaysLeft, RemovalNote } from './removal-note.tsx'
import { type OnLeave, useRestore } from './use-restore.tsx'

interface RemovedBarProps {
  item: RemovedItem
  onLeave: OnLeave
  /** Shown before the other buttons. */
  children?: ReactNode
}

/** Who removed it, and the buttons to restore it or to delete it for good. */
export function RemovedBar({ item, onLeave, children }: RemovedBarProps) {
  const { isReadOnly, isOwner } = useShownBoard()
  const { restore, purge, busyId, question } = useRestore({ onLeave, opensCard: true })
  const isBusy = busyId !== undefined
  return (
    <div className="cd-bar removed-detail-bar">
      <span className="removed-facts">
        <RemovalNote removed={item.removed} />
        {item.card_count !== null && <span>{t.cardCount({ count: item.card_count })}</span>}
        <DaysLeft removed={item.removed} />
      </span>
      <span className="cd-bar-actions">
        {children}
        {!isReadOnly && isOwner && (
          <button type="button" className="button" onClick={() => void purge(item)}>
            {t.purge}
          </button>
        )}
        {!isReadOnly && (
          <button type="button" className="button is-primary" aria-disabled={isBusy} onClick={() => void restore(item)}>
            {isBusy ? t.restoring : t.restore}
          </button>
        )}
      </span>
      {question}
    </div>
  )
}
