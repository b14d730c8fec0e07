import type { AutomationRun, FullBoard } from '@lockstep/client'
import { useCallback, useEffect, useState } from 'react'
import { Link } from 'wouter'
import { findCard } from '../board-state/board-model.ts'
import { filterQuery } from '../board-state/filter-address.ts'
import { client } from '../session.ts'
import { clockTime, dayName, fullDate } from '../ui/dates.ts'
import { Failure } from '../ui/failure.tsx'
import { t } from './messages.ts'

const PAGE_SIZE = 20
const outcomes: Record<AutomationRun['outcome'], string> = {
  moved: t.outcomeMoved,
  assigned: t.outcomeAssigned,
  already_there: t.outcomeAlreadyThere,
  already_assigned: t.outcomeAlreadyAssigned,
  failed: t.outcomeFailed,
}
interface RunPage {
  runs: readonly AutomationRun[]
  /** The cursor of the older runs. */
  next: string | undefined
}

/** The history of rule runs, newest first. Reloaded when `version` changes. */
export function RunLog({ view, version, onRefresh }: { view: FullBoard; version: number; onRefresh: () => void }) {
  const board_id = view.id
  const [log, setLog] = useState<RunPage>()
  const [failure, setFailure] = useState<unknown>()
  const load = useCallback(async () => {
    setFailure(undefined)
    try {
      const { data, next } = await client.request('listRuns', { board_id, limit: PAGE_SIZE })
      setLog((now) => joined({ runs: data, next: next?.['cursor'] }, now))
    } catch (error) {
      setFailure(error)
    }
  }, [board_id])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version triggers the request
  useEffect(() => void load(), [load, version])

  const loadOlder = async () => {
    const cursor = log?.next
    if (cursor === undefined) return
    setFailure(undefined)
    try {
      const { data, next } = await client.request('listRuns', { board_id, cursor, limit: PAGE_SIZE })
      setLog((now) => now && { runs: [...now.runs, ...data], next: next?.['cursor'] })
    } catch (error) {
      setFailure(error)
    }
  }
  return (
    <section className="runs" aria-labelledby="runs-heading">
      <header>
        <h3 id="runs-heading">{t.history}</h3>
        <button type="button" className="button is-quiet" onClick={onRefresh}>
          {t.refresh}
        </button>
      </header>
      {!log && failure === undefined && (
        <p className="quiet-wait" role="status">
          {t.loading}
        </p>
      )}
      {failure !== undefined && <Failure error={failure} onRetry={() => void load()} />}
      {log?.runs.length === 0 && <p className="rule-hint">{t.noRuns}</p>}
      <ol>
        {log?.runs.map((run) => (
          <li key={run.id}>
            <time dateTime={run.created_at} title={fullDate(run.created_at)}>
              {timeOf(run.created_at)}
            </time>
            <span className="run-text">
              {run.rule_name}
              <small>
                <RunCard run={run} view={view} />
              </small>
            </span>
            <span className={run.outcome === 'failed' ? 'chip run-failed' : 'chip'}>{outcomes[run.outcome]}</span>
          </li>
        ))}
      </ol>
      {log?.next !== undefined && (
        <button type="button" className="button runs-older" onClick={() => void loadOlder()}>
          {t.showOlder}
        </button>
      )}
    </section>
  )
}

/** The time, and the day unless it is today. */
function timeOf(at: string): string {
  const isToday = new Date(at).toDateString() === new Date().toDateString()
  return isToday ? clockTime(at) : t.dayAndTime({ day: dayName(at), time: clockTime(at) })
}

function RunCard({ run, view }: { run: AutomationRun; view: FullBoard }) {
  const card = findCard(view, run.card_id)?.card
  if (!card) return t.deletedCard
  return <Link href={`/b/${view.id}/c/${card.id}${filterQuery()}`}>{t.quoted({ name: card.title })}</Link>
}

/** Joins the newest page with the loaded ones if they overlap; otherwise the newest page alone. */
function joined(newest: RunPage, before: RunPage | undefined): RunPage {
  const last = newest.runs.at(-1)
  const at = before && last ? before.runs.findIndex(({ id }) => id === last.id) : -1
  if (!before || at < 0) return newest
  return { runs: [...newest.runs, ...before.runs.slice(at + 1)], next: before.next }
}
