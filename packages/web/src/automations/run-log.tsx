import type { AutomationRun, FullBoard } from '@lockstep/client'
import { useCallback, useEffect, useState } from 'react'
import { Link } from 'wouter'
import { findCard } from '../board/board-model.ts'
import { filterQuery } from '../board/filter-address.ts'
import { client } from '../session.ts'
import { Failure } from '../ui/failure.tsx'
import { clockOf, dayOf, momentOf } from '../ui/moment.ts'

const PAGE = 20
const outcomes: Record<AutomationRun['outcome'], string> = {
  moved: 'moved',
  assigned: 'assigned',
  already_there: 'already there',
  already_assigned: 'already assigned',
  failed: 'failed',
}
interface Log {
  runs: readonly AutomationRun[]
  has_older: boolean
}

/** What the rules did, the newest first. It is asked for anew at each `version`. */
export function RunLog({ view, version, onRefresh }: { view: FullBoard; version: number; onRefresh: () => void }) {
  const board_id = view.id
  const [log, setLog] = useState<Log>()
  const [failure, setFailure] = useState<unknown>()
  const load = useCallback(async () => {
    setFailure(undefined)
    try {
      const { data, next } = await client.request('listRuns', { board_id, limit: PAGE })
      setLog((now) => joined({ runs: data, has_older: next !== undefined }, now))
    } catch (error) {
      setFailure(error)
    }
  }, [board_id])
  // biome-ignore lint/correctness/useExhaustiveDependencies: each version is a reason to load
  useEffect(() => void load(), [load, version])

  const loadOlder = async () => {
    const last = log?.runs.at(-1)
    if (!last) return
    setFailure(undefined)
    try {
      const { data, next } = await client.request('listRuns', { board_id, before: last.id, limit: PAGE })
      setLog((now) => now && { runs: [...now.runs, ...data], has_older: next !== undefined })
    } catch (error) {
      setFailure(error)
    }
  }
  return (
    <section className="runs" aria-labelledby="runs-heading">
      <header>
        <h3 id="runs-heading">What the rules did</h3>
        <button type="button" className="button is-quiet" onClick={onRefresh}>
          Refresh
        </button>
      </header>
      {!log && failure === undefined && (
        <p className="quiet-wait" role="status">
          Loading…
        </p>
      )}
      {failure !== undefined && <Failure error={failure} onRetry={() => void load()} />}
      {log?.runs.length === 0 && <p className="rule-hint">No rule has acted yet.</p>}
      <ol>
        {log?.runs.map((run) => (
          <li key={run.id}>
            <time dateTime={run.created_at} title={momentOf(run.created_at)}>
              {dayOf(run.created_at) !== 'Today' && `${dayOf(run.created_at)}, `}
              {clockOf(run.created_at)}
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
      {log?.has_older && (
        <button type="button" className="button runs-older" onClick={() => void loadOlder()}>
          Show older
        </button>
      )}
    </section>
  )
}

function RunCard({ run, view }: { run: AutomationRun; view: FullBoard }) {
  const card = findCard(view, run.card_id)?.card
  if (!card) return 'A card that is gone'
  return <Link href={`/b/${view.id}/c/${card.id}${filterQuery()}`}>“{card.title}”</Link>
}

/** The newest page before what was shown, where the two meet; else the newest page alone. */
function joined(newest: Log, before: Log | undefined): Log {
  const last = newest.runs.at(-1)
  const at = before && last ? before.runs.findIndex(({ id }) => id === last.id) : -1
  if (!before || at < 0) return newest
  return { runs: [...newest.runs, ...before.runs.slice(at + 1)], has_older: before.has_older }
}
