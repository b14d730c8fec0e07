import type { BoardState } from '@lockstep/client/react'
import { Link } from 'wouter'
import { AccountMenu } from '../settings/account-menu.tsx'
import { copyText } from '../ui/clipboard.ts'
import { StatePage } from '../ui/page.tsx'

const sentences = {
  deleted: ['This board is gone', 'It was deleted, or the address is wrong.'],
  forbidden: [
    'This board is not yours to see',
    'You are no member of it, or no longer one. An owner of the board can invite you.',
  ],
} as const

/** What the user had written and the service does not have. */
function unsentText({ pending, failedChanges: notices }: BoardState): string {
  const written = pending.flatMap(({ change: { input } }) => {
    const { title, name, content, description } = input as Record<string, unknown>
    return [title, name, content, description].filter((text) => typeof text === 'string')
  })
  return [...notices.map(({ text }) => text), ...written].filter(Boolean).join('\n\n')
}

/** An address that leads to no board: nothing was lost, and there is a way on. */
export const NoSuchBoard = () => (
  <StatePage title="There is no such board" actions={<AccountMenu />}>
    <p>The address may be mistyped or cut short, or the board was deleted. Ask for the link again.</p>
    <Link href="/boards" className="button is-primary">
      Your boards
    </Link>
  </StatePage>
)

/** The board is no longer there for this user: said in a sentence, with what he had not sent yet. */
export function ClosedBoard({ state, title }: { state: BoardState; title: string | undefined }) {
  const [heading, text] = sentences[state.status.reason as keyof typeof sentences] ?? sentences.deleted
  const unsent = unsentText(state)
  if (state.status.reason === 'deleted' && title === undefined && !unsent) return <NoSuchBoard />
  return (
    <StatePage title={heading}>
      <p>
        {title && `“${title}”: `}
        {text}
      </p>
      {unsent && (
        <>
          <p>What you wrote last was not saved:</p>
          <pre className="unsent">{unsent}</pre>
          <button type="button" className="button" onClick={() => void copyText(unsent)}>
            Copy the text
          </button>
        </>
      )}
      <Link href="/boards" className="button is-primary">
        Your boards
      </Link>
    </StatePage>
  )
}
