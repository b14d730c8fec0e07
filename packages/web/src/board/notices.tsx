import type { FailedChange } from '@lockstep/client/live'
import type { BoardState } from '@lockstep/client/react'
import { useEffect } from 'react'
import { announce } from '../ui/announcer.tsx'
import { copyText } from '../ui/clipboard.ts'
import { layers } from '../ui/layers.ts'
import { useTools } from './board-tools.ts'
import { changeWords } from './change-words.ts'

/** The changes that did not come about, each with its reason and what was typed: nothing vanishes without a word. */
export function Notices({ failedChanges: notices, dismiss }: Pick<BoardState, 'failedChanges' | 'dismiss'>) {
  const title = notices.length === 1 ? 'One change could not be made' : `${notices.length} changes could not be made`
  const last = notices.at(-1)
  useEffect(() => {
    // An alert behind an open dialog is heard by nobody.
    if (last && layers.get().length > 0) announce(`${changeWords(last.change)} did not work. ${reasonOf(last)}`)
  }, [last])
  if (notices.length === 0) return null
  return (
    <section className="notices" aria-label={title} role="alert">
      <p>
        <b>{title}.</b>
      </p>
      <ul>
        {notices.map((notice) => (
          <NoticeRow key={notice.key} notice={notice} onDone={() => dismiss(notice.key)} />
        ))}
      </ul>
    </section>
  )
}

const reasonOf = ({ reason, problem }: FailedChange): string => {
  if (reason === 'gone') return 'What it was about was deleted meanwhile.'
  if (reason === 'conflict') return 'Somebody else changed the same text meanwhile.'
  return problem?.detail ?? 'The service refused it.'
}

/** What is dismissed hands the focus to the next one, the last one to the page. */
function focusRest() {
  if (document.activeElement !== document.body) return
  const rest = document.querySelector<HTMLElement>('.notices button') ?? document.querySelector<HTMLElement>('h1')
  rest?.focus()
}

function NoticeRow({ notice, onDone }: { notice: FailedChange; onDone: () => void }) {
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
        {changeWords(change)}: {reasonOf(notice)}
        {text && <q>{text.slice(0, 120)}</q>}
      </span>
      <span className="notice-actions">
        {reason === 'conflict' && card_id && (
          <button type="button" className="button" onClick={() => tools.openCard(card_id)}>
            Open the card
          </button>
        )}
        {reason === 'rejected' && (
          <button type="button" className="button" onClick={retry}>
            Try again
          </button>
        )}
        {text && (
          <button type="button" className="button" onClick={() => void copyText(text)}>
            Copy the text
          </button>
        )}
        <button
          type="button"
          className="button is-quiet"
          onClick={() => {
            onDone()
            requestAnimationFrame(focusRest)
          }}
        >
          Dismiss
        </button>
      </span>
    </li>
  )
}
