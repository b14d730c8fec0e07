import { isLockstepError } from '@lockstep/client'
import { useLocation, useSearch } from 'wouter'
import { handleTileKeys } from '../boards/boards-keys.ts'
import { PageFrame } from '../settings/page-frame.tsx'
import { Failure } from '../ui/failure.tsx'
import { InboxRow } from './inbox-row.tsx'
import { t } from './messages.ts'
import { useInbox } from './use-inbox.ts'
import './inbox.css'

const UNREAD = 'show=unread'

export function InboxPage() {
  const isUnread = useSearch() === UNREAD
  const { items, cursor, failure, now, isLoadingMore, mark, markAll, showMore, reload } = useInbox(isUnread)
  const newest = items?.[0]
  const hasUnread = items?.some(({ read_at }) => read_at === null)
  return (
    <PageFrame title={t.inbox}>
      <div className="inbox-bar">
        <Filter isUnread={isUnread} />
        <button
          type="button"
          className="button"
          aria-disabled={!hasUnread}
          onClick={() => hasUnread && newest && void markAll(newest.changed_at)}
        >
          {t.markAllAsRead}
        </button>
      </div>
      {failure !== undefined && <ListFailure failure={failure} onRetry={reload} />}
      {!items && failure === undefined && <p className="quiet-wait">{t.loading}</p>}
      {items && items.length > 0 && (
        <ul
          className="inbox-list"
          onKeyDown={(event) => handleTileKeys(event, [...event.currentTarget.querySelectorAll('a')])}
        >
          {items.map((item) => (
            <InboxRow key={item.id} item={item} now={now} onMark={(each, isRead) => void mark(each, isRead)} />
          ))}
        </ul>
      )}
      {items?.length === 0 && <Empty isUnread={isUnread} />}
      {items && cursor && (
        <button
          type="button"
          className="button inbox-more"
          aria-disabled={isLoadingMore}
          onClick={() => !isLoadingMore && void showMore()}
        >
          {isLoadingMore ? t.loading : t.showMore}
        </button>
      )}
    </PageFrame>
  )
}

/** In the address, so that Back returns to it. */
function Filter({ isUnread }: { isUnread: boolean }) {
  const [, navigate] = useLocation()
  const show = (query: string) => navigate(`/inbox${query}`, { replace: true })
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div className="inbox-filter" role="group" aria-label={t.show}>
      <button type="button" className="button is-quiet" aria-pressed={!isUnread} onClick={() => show('')}>
        {t.all}
      </button>
      <button type="button" className="button is-quiet" aria-pressed={isUnread} onClick={() => show(`?${UNREAD}`)}>
        {t.unread}
      </button>
    </div>
  )
}

function Empty({ isUnread }: { isUnread: boolean }) {
  return (
    <div className="inbox-empty">
      <h2>{isUnread ? t.noneUnread : t.empty}</h2>
      <p>{isUnread ? t.noneUnreadHint : t.emptyHint}</p>
    </div>
  )
}

function ListFailure({ failure, onRetry }: { failure: unknown; onRetry: () => void }) {
  if (!isLockstepError(failure, 'network_failed', 'timed_out')) return <Failure error={failure} onRetry={onRetry} />
  return (
    <p className="inbox-notice" role="status">
      {t.unreachable}
    </p>
  )
}
