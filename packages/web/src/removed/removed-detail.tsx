import type { FullBoard, RemovedItem } from '@lockstep/client'
import { useEffect } from 'react'
import { useLocation } from 'wouter'
import { findCard } from '../board-state/board-model.ts'
import { useTools } from '../board-state/board-tools.ts'
import { filterQuery } from '../board-state/filter-address.ts'
import { useOffline } from '../board-state/use-offline.ts'
import { Failure } from '../ui/failure.tsx'
import { t } from './messages.ts'
import { RemovedBar } from './removed-bar.tsx'
import { RemovedCard } from './removed-card.tsx'
import { RemovedList } from './removed-list.tsx'
import { useRemovedItem } from './use-removed-item.ts'
import { noFilter, useRemovedList } from './use-removed-list.ts'
import { type OnLeave, useRestore } from './use-restore.tsx'

interface RemovedDetailProps {
  view: FullBoard
  removed_id: string
  onBack: () => void
  onLeave: (ids: readonly string[]) => void
}

/** A card or a column of the list, read-only. A card that is back on the board opens there. */
export function RemovedDetail({ view, removed_id, onBack, onLeave }: RemovedDetailProps) {
  const tools = useTools()
  const [, navigate] = useLocation()
  const { item, isGone, failure, reload } = useRemovedItem(removed_id)
  const isBack = findCard(view, removed_id) !== undefined
  useEffect(() => {
    if (isBack) navigate(`/b/${view.id}/c/${removed_id}${filterQuery()}`, { replace: true })
  }, [isBack, navigate, removed_id, view.id])
  const leave: OnLeave = ({ id, kind }, how) => {
    onLeave([id])
    // A restored card opens when the board shows it.
    if (how !== 'restored') onBack()
    else if (kind === 'column') tools.close()
  }
  return (
    <div className="dialog-body cd removed-detail">
      {!item && !isGone && failure === undefined && (
        <p className="quiet-wait" role="status">
          {t.loading}
        </p>
      )}
      {failure !== undefined && <Failure error={failure} onRetry={reload} />}
      {isGone && !isBack && (
        <p className="removed-none" role="status">
          {t.columnNotFound}
        </p>
      )}
      {item?.card && <RemovedCard item={item} card={item.card} onLeave={leave} hasTitle />}
      {item?.kind === 'column' && <RemovedColumn item={item} onLeave={leave} />}
    </div>
  )
}

/** A column with the cards that left it. */
function RemovedColumn({ item, onLeave }: { item: RemovedItem; onLeave: OnLeave }) {
  const tools = useTools()
  const cards = useRemovedList(tools.board_id, { ...noFilter, column_id: item.id }, useOffline())
  const ofCards = useRestore({ onLeave: ({ id }) => cards.drop([id]) })
  return (
    <>
      <RemovedBar item={item} onLeave={onLeave} />
      <div className="cd-title" dir="auto">
        {item.title}
      </div>
      <RemovedList
        loaded={cards}
        actions={ofCards}
        label={t.cardsOf({ title: item.title })}
        empty={t.noCards}
        onOpen={() => {}}
      />
      {ofCards.question}
    </>
  )
}
