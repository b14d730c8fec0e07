import { useState } from 'react'
import { t } from './messages.ts'

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
        <span>{who === t.you ? t.youEditedSameLines : t.editedSameLines({ who })}</span>
        <span className="cd-bar-actions">
          <button
            type="button"
            className="button"
            aria-expanded={isComparing}
            onClick={() => setComparing(!isComparing)}
          >
            {t.compare}
          </button>
          <button type="button" className="button" onClick={onKeepMine}>
            {t.keepMine}
          </button>
          <button type="button" className="button" onClick={onKeepTheirs}>
            {who === t.you || who === t.someone ? t.keepTheirs : t.keepTextOf({ who })}
          </button>
        </span>
      </div>
      {isComparing && (
        <div className="cd-both">
          <figure>
            <figcaption>{t.mine}</figcaption>
            <pre dir="auto">{mine}</pre>
          </figure>
          <figure>
            <figcaption>{t.theirs}</figcaption>
            <pre dir="auto">{theirs || t.emptyText}</pre>
          </figure>
        </div>
      )}
    </div>
  )
}
