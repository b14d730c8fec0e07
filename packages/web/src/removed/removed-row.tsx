import type { RemovedItem } from '@lockstep/client'
import { Link } from 'wouter'
import { numberOf } from '../board-state/board-model.ts'
import { useTools } from '../board-state/board-tools.ts'
import { filterQuery } from '../board-state/filter-address.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { Icon } from '../ui/icon.tsx'
import { t } from './messages.ts'
import { DaysLeft, RemovalNote } from './removal-note.tsx'
import type { useRestore } from './use-restore.tsx'

interface RemovedRowProps {
  item: RemovedItem
  actions: ReturnType<typeof useRestore>
  onOpen: () => void
}

/** An archived or deleted card or column in the list. */
export function RemovedRow({ item, actions: { restore, purge, busyId }, onOpen }: RemovedRowProps) {
  const tools = useTools()
  const board = useShownBoard()
  const { id, kind, title, number, column_id, card_count, removed } = item
  const column = board.view.columns.find((each) => each.id === column_id)
  const isBusy = busyId === id
  return (
    <li className="removed-row" data-removed-id={id}>
      <Icon name={kind === 'card' ? 'file' : 'list'} />
      <div className="removed-about">
        <p className="removed-head">
          <Link
            href={`/b/${tools.board_id}/removed/${id}${filterQuery()}`}
            className="removed-title"
            dir="auto"
            onClick={onOpen}
          >
            {title}
          </Link>{' '}
          {number !== null && <span className="removed-number">{numberOf({ number })}</span>}
        </p>
        <p className="removed-facts">
          {kind === 'column' && <span>{t.column}</span>}
          <RemovalNote removed={removed} />
          {column && <span dir="auto">{t.fromColumn({ column: column.title })}</span>}
          {card_count !== null && <span>{t.cardCount({ count: card_count })}</span>}
          <DaysLeft removed={removed} />
        </p>
      </div>
      {!board.isReadOnly && (
        <span className="removed-acts">
          <button
            type="button"
            className="button"
            aria-label={t.restoreItem({ title })}
            aria-disabled={isBusy}
            onClick={() => void restore(item)}
          >
            {isBusy ? t.restoring : t.restore}
          </button>
          {board.isOwner && (
            <button
              type="button"
              className="icon-button"
              aria-label={t.purgeItem({ title })}
              title={t.purge}
              onClick={() => void purge(item)}
            >
              <Icon name="trash" />
            </button>
          )}
        </span>
      )}
    </li>
  )
}
