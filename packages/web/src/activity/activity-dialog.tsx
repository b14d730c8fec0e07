import { useMemo, useRef, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import type { PanelProps } from '../board-state/panel-props.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Failure } from '../ui/failure.tsx'
import { ActivityFilters, filterActivity, noFilter } from './activity-filter.tsx'
import { ActivityLine } from './activity-line.tsx'
import { describeLog } from './describe-log.ts'
import { groupEvents } from './group-events.ts'
import { t } from './messages.ts'
import { useHistory } from './use-history.ts'
import './activity.css'

/** The activity log of the board, newest first. New events wait behind a button, so that the list does not jump. */
export function ActivityDialog({ view }: PanelProps) {
  const tools = useTools()
  const { status } = useShownBoard()
  const history = useHistory(view.id, view, `${status.phase} ${status.pending}`)
  const { loaded, failure } = history
  const [filter, setFilter] = useState(noFilter)
  const top = useRef<HTMLDivElement>(null)
  const events = loaded?.events
  const described = useMemo(() => (events ? describeLog(events, view) : []), [events, view])
  const days = useMemo(() => groupEvents(filterActivity(described, filter)), [described, filter])
  const hasOlder = loaded !== undefined && (loaded.events[0]?.seq ?? 0) > loaded.firstSeq
  const newCount = loaded?.waiting.length ?? 0
  const showNew = () => {
    history.showNew()
    top.current?.scrollTo({ top: 0 })
    top.current?.focus()
  }
  return (
    <Dialog title={t.title({ board: view.title })} onClose={() => tools.close()}>
      {described.length > 0 && (
        <div className="activity-bar">
          <ActivityFilters events={described} filter={filter} onChange={setFilter} />
          <span className="spacer" />
          <span role="status">
            {(newCount > 0 || loaded?.isStale) && (
              <button type="button" className="button is-primary activity-new" onClick={showNew}>
                {loaded?.isStale ? t.reload : t.newChanges({ count: newCount })}
              </button>
            )}
          </span>
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard */}
      <section ref={top} className="dialog-body activity" tabIndex={0} aria-label={t.history} data-first="">
        {status.phase === 'offline' && (
          <p className="activity-note" role="status">
            {t.offline}
          </p>
        )}
        {!loaded && failure === undefined && (
          <p className="quiet-wait" role="status">
            {t.loading}
          </p>
        )}
        {!loaded && failure !== undefined && <Failure error={failure} onRetry={history.load} />}
        {days.map(({ day, lines }) => (
          <section key={day} aria-label={day}>
            <h3>{day}</h3>
            <ol>
              {lines.map((line) => (
                <ActivityLine key={line.key} line={line} board_id={view.id} />
              ))}
            </ol>
          </section>
        ))}
        {loaded && days.length === 0 && (
          <p className="activity-note">
            {described.length === 0 ? t.noActivity : t.noMatches({ count: loaded.events.length })}
          </p>
        )}
        {loaded && failure !== undefined && <Failure error={failure} onRetry={() => void history.loadOlder()} />}
        {hasOlder && failure === undefined && (
          <button
            type="button"
            className="button activity-older"
            aria-disabled={history.isLoadingOlder}
            onClick={() => !history.isLoadingOlder && void history.loadOlder()}
          >
            {history.isLoadingOlder ? t.loading : t.showOlder}
          </button>
        )}
        {loaded && !hasOlder && described.length > 0 && (
          <p className="activity-end">{loaded.firstSeq > 1 ? t.olderDeleted : t.beginning}</p>
        )}
      </section>
    </Dialog>
  )
}
