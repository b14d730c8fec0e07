import type { BoardState } from '@lockstep/client/react'
import { Link } from 'wouter'
import { Bell } from '../bell/bell.tsx'
import { textsOf } from '../board-state/describe-change.ts'
import { AccountMenu } from '../settings/account-menu.tsx'
import { copyText } from '../ui/clipboard.ts'
import { StatePage } from '../ui/page.tsx'
import { t } from './messages.ts'

const messages = {
  deleted: [t.boardDeleted, t.boardDeletedHint],
  forbidden: [t.noAccess, t.noAccessHint],
} as const

/** Text that the user wrote and the server does not have. */
function unsentText({ pending, failedChanges }: BoardState): string {
  const written = pending.flatMap(({ change }) => textsOf(change))
  return [...failedChanges.map(({ text }) => text), ...written].filter(Boolean).join('\n\n')
}

/** Shown for a URL without a board. */
export const NoSuchBoard = () => (
  <StatePage
    title={t.notFound}
    actions={
      <>
        <Bell />
        <AccountMenu />
      </>
    }
  >
    <p>{t.notFoundHint}</p>
    <Link href="/boards" className="button is-primary">
      {t.yourBoards}
    </Link>
  </StatePage>
)

/** Shown when the board was deleted or the user was removed, with the text that was not sent. */
export function ClosedBoard({ state, title }: { state: BoardState; title: string | undefined }) {
  const [heading, text] = messages[state.status.reason as keyof typeof messages] ?? messages.deleted
  const unsent = unsentText(state)
  if (state.status.reason === 'deleted' && title === undefined && !unsent) return <NoSuchBoard />
  return (
    <StatePage title={heading}>
      <p>{title ? t.aboutBoard({ title, text }) : text}</p>
      {unsent && (
        <>
          <p>{t.notSaved}</p>
          <pre className="unsent">{unsent}</pre>
          <button type="button" className="button" onClick={() => void copyText(unsent)}>
            {t.copyText}
          </button>
        </>
      )}
      <Link href="/boards" className="button is-primary">
        {t.yourBoards}
      </Link>
    </StatePage>
  )
}
