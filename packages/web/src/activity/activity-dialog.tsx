import { useMemo, useRef, useState } from 'react'
import { useTools } from '../board/board-tools.ts'
import type { PanelProps } from '../board/panel.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Failure } from '../ui/failure.tsx'
import { ActivityFilters, everything, filterTold } from './activity-filter.tsx'
import { ActivityLine } from './activity-line.tsx'
import { tellEvents } from './event-sentence.ts'
import { groupEvents } from './group-events.ts'
import { useHistory } from './use-history.ts'
import './activity.css'

/** What happened on the board, the newest first. What happens meanwhile waits behind a button. */
export function ActivityDialog({ view }: PanelProps) {
  const tools = useTools()
  const { status } = tools
  const history = useHistory(view.id, view, `${status.phase} ${status.pending}`)
  const { loaded, failure } = history
  const [filter, setFilter] = useState(everything)
  const top = useRef<HTMLDivElement>(null)
  const events = loaded?.events
  const told = useMemo(() => (events ? tellEvents(events, view) : []), [events, view])
  const days = useMemo(() => groupEvents(filterTold(told, filter)), [told, filter])
  const hasOlder = loaded !== undefined && (loaded.events[0]?.seq ?? 0) > loaded.first_seq
  const news = loaded?.waiting.length ?? 0
  const showNew = () => {
    history.showNew()
    top.current?.scrollTo({ top: 0 })
    top.current?.focus()
  }
  return (
    <Dialog title={`Activity on “${view.title}”`} onClose={() => tools.close()}>
      {told.length > 0 && (
        <div className="activity-bar">
          <ActivityFilters told={told} filter={filter} onChange={setFilter} />
          <span className="spacer" />
          <span role="status">
            {(news > 0 || loaded?.is_stale) && (
              <button type="button" className="button is-primary activity-new" onClick={showNew}>
                {loaded?.is_stale ? 'Load anew' : `${news} new`}
              </button>
            )}
          </span>
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section ref={top} className="dialog-body activity" tabIndex={0} aria-label="History" data-first="">
        {status.phase === 'offline' && (
          <p className="activity-note" role="status">
            Offline. What happened since then comes when the connection returns.
          </p>
        )}
        {!loaded && failure === undefined && (
          <p className="quiet-wait" role="status">
            Loading…
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
            {told.length === 0
              ? 'Nothing yet. Changes appear here as they happen.'
              : `Nothing of this kind among the last ${loaded.events.length} changes.`}
          </p>
        )}
        {loaded && failure !== undefined && <Failure error={failure} onRetry={() => void history.loadOlder()} />}
        {hasOlder && failure === undefined && (
          <button
            type="button"
            className="button activity-older"
            aria-disabled={history.isOlderComing}
            onClick={() => !history.isOlderComing && void history.loadOlder()}
          >
            {history.isOlderComing ? 'Loading…' : 'Show older'}
          </button>
        )}
        {loaded && !hasOlder && told.length > 0 && (
          <p className="activity-end">
            {loaded.first_seq > 1 ? 'What happened before is no longer kept.' : 'This is where the board began.'}
          </p>
        )}
      </section>
    </Dialog>
  )
}
