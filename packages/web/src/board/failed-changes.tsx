import type { FailedChange } from '@lockstep/client/live'
import type { BoardState } from '@lockstep/client/react'
import { useEffect } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { describeFailure } from '../board-state/describe-change.ts'
import { announce } from '../ui/announcer.tsx'
import { copyText } from '../ui/clipboard.ts'
import { openLayers } from '../ui/layers.ts'
import { problemMessage } from '../ui/problems.ts'
import { t } from './messages.ts'

/** Changes that failed, with the reason and the typed text, so that nothing is lost silently. */
export function FailedChanges({ failedChanges, dismiss }: Pick<BoardState, 'failedChanges' | 'dismiss'>) {
  const count = failedChanges.length
  const last = failedChanges.at(-1)
  useEffect(() => {
    // Behind a modal dialog the alert is inert, so announce it.
    if (last && openLayers().length > 0) announce(sentenceOf(last))
  }, [last])
  if (count === 0) return null
  return (
    <section className="failedChanges" aria-label={t.failedTitle({ count })} role="alert">
      <p>
        <b>{t.failedHeading({ count })}</b>
      </p>
      <ul>
        {failedChanges.map((notice) => (
          <FailedChangeRow key={notice.key} notice={notice} onDone={() => dismiss(notice.key)} />
        ))}
      </ul>
    </section>
  )
}

const sentenceOf = (notice: FailedChange): string => describeFailure(notice.change, reasonOf(notice))

const reasonOf = ({ change, reason, problem }: FailedChange): string => {
  // Only what is created has an id of its own; other changes name it `card_id` and the like.
  if (reason === 'gone') return 'id' in change.input ? t.parentWasDeleted : t.wasDeleted
  if (reason === 'conflict') return t.textConflict
  return problem ? problemMessage(problem) : t.rejected
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
        {sentenceOf(notice)}
        {text && <q>{text.slice(0, 120)}</q>}
      </span>
      <span className="notice-actions">
        {reason === 'conflict' && card_id && (
          <button type="button" className="button" onClick={() => tools.openCard(card_id)}>
            {t.openCard}
          </button>
        )}
        {reason === 'rejected' && (
          <button type="button" className="button" onClick={retry}>
            {t.retry}
          </button>
        )}
        {text && (
          <button type="button" className="button" onClick={() => void copyText(text)}>
            {t.copyText}
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
          {t.dismiss}
        </button>
      </span>
    </li>
  )
}
