import type { RefObject } from 'react'
import { handleTileKeys } from '../boards/boards-keys.ts'
import { Failure } from '../ui/failure.tsx'
import { t } from './messages.ts'
import { RemovedRow } from './removed-row.tsx'
import type { useRemovedList } from './use-removed-list.ts'
import type { useRestore } from './use-restore.tsx'

interface RemovedListProps {
  loaded: ReturnType<typeof useRemovedList>
  actions: ReturnType<typeof useRestore>
  label: string
  /** Shown instead of an empty list. */
  empty: string
  onOpen: (id: string) => void
  ref?: RefObject<HTMLUListElement | null>
}

/** The rows, in pages. Arrow keys move between them. */
export function RemovedList({ loaded, actions, label, empty, onOpen, ref }: RemovedListProps) {
  const { list, failure, isLoadingMore, load, loadMore } = loaded
  const items = list?.items ?? []
  return (
    <>
      {!list && failure === undefined && (
        <p className="quiet-wait" role="status">
          {t.loading}
        </p>
      )}
      {items.length > 0 && (
        <ul
          ref={ref}
          className="removed-rows"
          aria-label={label}
          onKeyDown={(event) => handleTileKeys(event, [...event.currentTarget.querySelectorAll('a')])}
        >
          {items.map((item) => (
            <RemovedRow key={item.id} item={item} actions={actions} onOpen={() => onOpen(item.id)} />
          ))}
        </ul>
      )}
      {list && items.length === 0 && !list.next && failure === undefined && <p className="removed-none">{empty}</p>}
      {failure !== undefined && <Failure error={failure} onRetry={list ? () => void loadMore() : load} />}
      {list?.next && failure === undefined && (
        <button
          type="button"
          className="button removed-more"
          aria-disabled={isLoadingMore}
          onClick={() => void loadMore()}
        >
          {isLoadingMore ? t.loading : t.showMore}
        </button>
      )}
    </>
  )
}
