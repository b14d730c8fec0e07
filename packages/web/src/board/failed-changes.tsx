import type { FailedChange } from '@lockstep/client/live'
import type { BoardState } from '@lockstep/client/react'
import { useEffect } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { describeChange } from '../board-state/describe-change.ts'
import { announce } from '../ui/announcer.tsx'
import { copyText } from '../ui/clipboard.ts'
import { layers } from '../ui/layers.ts'

/** Changes that failed, with the reason and the typed text, so that nothing is lost silently. */
export function FailedChanges({ failedChanges, dismiss }: Pick<BoardState, 'failedChanges' | 'dismiss'>) {
  const title =
    failedChanges.length === 1 ? 'One change couldn’t be saved' : `${failedChanges.length} changes couldn’t be saved`
  const last = failedChanges.at(-1)
  useEffect(() => {
    // Behind a modal dialog the alert is inert, so announce it.
    if (last && layers.get().length > 0) announce(describeFailure(last))
  }, [last])
  if (failedChanges.length === 0) return null
  return (
    <section className="failedChanges" aria-label={title} role="alert">
      <p>
        <b>{title}.</b>
      </p>
      <ul>
        {failedChanges.map((notice) => (
          <FailedChangeRow key={notice.key} notice={notice} onDone={() => dismiss(notice.key)} />
        ))}
      </ul>
    </section>
  )
}

const describeFailure = (notice: FailedChange): string =>
  `Couldn’t ${describeChange(notice.change)}. ${reasonOf(notice)}`

const reasonOf = ({ change, reason, problem }: FailedChange): string => {
  if (reason === 'gone')
    return change.name.startsWith('create') ? 'The card or column it belongs to was deleted.' : 'It was deleted.'
  if (reason === 'conflict') return 'Someone else changed the same text.'
  return problem?.detail ?? 'The server rejected it.'
}

/** After dismissing a failure, focuses the next one, or the page's heading. */
function focusNextFailure() {
  if (document.activeElement !== document.body) return
  const next = document.querySelector<HTMLElement>('.failedChanges button') ?? document.querySelector<HTMLElement>('h1')
  next?.focus()
}

function FailedChangeRow({ notice, onDone }: { notice: FailedChange; onDone: () => void }) {
  const tools = useTools()
  const { change, text, reason } = notice
  const { card_id } = change.input as { card_id?: string }
  const retry = () => {
    onDone()
    tools.change(change.name, change.input)
  }
  return (
    <li>
      <span>
        {describeFailure(notice)}
        {text && <q>{text.slice(0, 120)}</q>}
      </span>
      <span className="notice-actions">
        {reason === 'conflict' && card_id && (
          <button type="button" className="button" onClick={() => tools.openCard(card_id)}>
            Open card
          </button>
        )}
        {reason === 'rejected' && (
          <button type="button" className="button" onClick={retry}>
            Retry
          </button>
        )}
        {text && (
          <button type="button" className="button" onClick={() => void copyText(text)}>
            Copy text
          </button>
        )}
        <button
          type="button"
          className="button is-quiet"
          onClick={() => {
            onDone()
            requestAnimationFrame(focusNextFailure)
          }}
        >
          Dismiss
        </button>
      </span>
    </li>
  )
}
