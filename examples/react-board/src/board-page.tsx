import type { Card, Client, Column } from '@lockstep/client'
import { type BoardState, useBoard } from '@lockstep/client/react'
import { type FormEvent, memo } from 'react'

type Change = BoardState['change']

/** A live board. `change` shows a change at once and sends it; nothing here waits for the server or rolls back. */
export function BoardPage({ client, board_id }: { client: Client; board_id: string }) {
  const { view, status, presence, change, undo, canUndo, failedChanges, dismiss } = useBoard(client, board_id)
  if (!view) return <p>{status.reason ?? 'Loading…'}</p>
  return (
    <main>
      <header>
        <h1>{view.title}</h1>
        <span className="people">{presence.map(({ username }) => username).join(', ')}</span>
        <span className="status">{status.phase === 'live' ? '' : status.phase}</span>
        <button type="button" disabled={!canUndo} onClick={() => undo()}>
          Undo
        </button>
      </header>
      <div className="columns">
        {view.columns.map((column, i) => (
          <ColumnView key={column.id} column={column} next={view.columns[i + 1]?.id} change={change} />
        ))}
      </div>
      {failedChanges.map(({ key, problem, text }) => (
        <p key={key} role="alert">
          {problem?.detail ?? 'It has been deleted.'} {text}
          <button type="button" onClick={() => dismiss(key)}>
            Dismiss
          </button>
        </p>
      ))}
    </main>
  )
}

function ColumnView({ column, next, change }: { column: Column; next: string | undefined; change: Change }) {
  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const { title } = Object.fromEntries(new FormData(form)) as Record<string, string>
    change('createCard', { column_id: column.id, title })
    form.reset()
  }
  return (
    <section aria-label={column.title}>
      <h2>{column.title}</h2>
      {column.cards.map((card) => (
        <CardView key={card.id} card={card} next={next} change={change} />
      ))}
      <form onSubmit={add}>
        <input name="title" placeholder="New card" required />
      </form>
    </section>
  )
}

/** Rendered again only when this card changes: unchanged parts of the view keep their identity. */
const CardView = memo(function CardView({
  card,
  next,
  change,
}: {
  card: Card
  next: string | undefined
  change: Change
}) {
  return (
    <article>
      {card.title}
      {next && (
        <button
          type="button"
          aria-label={`Move ${card.title} on`}
          onClick={() => change('moveCard', { card_id: card.id, column_id: next })}
        >
          →
        </button>
      )}
    </article>
  )
})
