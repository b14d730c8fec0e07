import { useState } from 'react'

interface ConflictBarProps {
  who: string
  mine: string
  theirs: string
  onUseMine: () => void
  onUseTheirs: () => void
}

/** Two people changed the same lines: nothing is overwritten before somebody has chosen. */
export function ConflictBar({ who, mine, theirs, onUseMine, onUseTheirs }: ConflictBarProps) {
  const [hasBoth, showBoth] = useState(false)
  return (
    <div className="cd-conflict">
      <div className="cd-bar" role="alert">
        <span>{who} changed this text meanwhile.</span>
        <span className="cd-bar-actions">
          <button type="button" className="button" aria-expanded={hasBoth} onClick={() => showBoth(!hasBoth)}>
            See both
          </button>
          <button type="button" className="button" onClick={onUseMine}>
            Use mine
          </button>
          <button type="button" className="button" onClick={onUseTheirs}>
            Use theirs
          </button>
        </span>
      </div>
      {hasBoth && (
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
