import { useState } from 'react'

interface ConflictBarProps {
  who: string
  mine: string
  theirs: string
  onKeepMine: () => void
  onKeepTheirs: () => void
}

/** Shown when two users edited the same lines: the user chooses before anything is overwritten. */
export function ConflictBar({ who, mine, theirs, onKeepMine, onKeepTheirs }: ConflictBarProps) {
  const [isComparing, setComparing] = useState(false)
  return (
    <div className="cd-conflict">
      <div className="cd-bar" role="alert">
        <span>{who} edited the same lines.</span>
        <span className="cd-bar-actions">
          <button
            type="button"
            className="button"
            aria-expanded={isComparing}
            onClick={() => setComparing(!isComparing)}
          >
            Compare
          </button>
          <button type="button" className="button" onClick={onKeepMine}>
            Keep mine
          </button>
          <button type="button" className="button" onClick={onKeepTheirs}>
            {who === 'You' || who === 'Someone' ? 'Keep theirs' : `Keep ${who}’s`}
          </button>
        </span>
      </div>
      {isComparing && (
        <div className="cd-both">
          <figure>
            <figcaption>Mine</figcaption>
            <pre>{mine}</pre>
          </figure>
          <figure>
            <figcaption>Theirs</figcaption>
            <pre>{theirs || '(empty)'}</pre>
          </figure>
        </div>
      )}
    </div>
  )
}
