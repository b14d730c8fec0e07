import type { BoardState } from '@lockstep/client/react'
import { Link } from 'wouter'
import { StatePage } from '../ui/page.tsx'

const sentences = {
  deleted: ['This board is gone', 'It was deleted, or the address is wrong.'],
  forbidden: [
    'This board is not yours to see',
    'You are no member of it, or no longer one. An owner of the board can invite you.',
  ],
} as const

/** The board is no longer there for this user: said in a sentence, with what he had not sent yet. */
export function ClosedBoard({ state, title }: { state: BoardState; title: string | undefined }) {
  const [heading, text] = sentences[state.status.reason as keyof typeof sentences] ?? sentences.deleted
  return (
    <StatePage title={heading}>
      <p>
        {title && `“${title}”: `}
        {text}
      </p>
      <Link href="/boards" className="button is-primary">
        Your boards
      </Link>
    </StatePage>
  )
}
