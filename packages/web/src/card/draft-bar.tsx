import { shortDate } from '../ui/dates.ts'
import { showToast } from '../ui/toasts.tsx'
import { type Draft, writeDraft } from './drafts.ts'

interface DraftBarProps {
  name: string
  draft: Draft
  onRestore: () => void
  /** Called after the draft was discarded or restored. */
  onChange: () => void
}

/** Offers an unsaved draft until the user restores or discards it. */
export function DraftBar({ name, draft, onRestore, onChange }: DraftBarProps) {
  const isShort = draft.text.length <= 80 && !draft.text.includes('\n')
  const discard = () => {
    writeDraft(name, undefined)
    onChange()
    const restore = () => {
      writeDraft(name, draft)
      onChange()
    }
    showToast('Draft discarded', { label: 'Undo', run: restore })
  }
  return (
    <div className="cd-bar" role="status">
      <span>
        Unsaved draft from <time dateTime={draft.at}>{shortDate(draft.at)}</time>
        {isShort && `: “${draft.text}”`}
      </span>
      <span className="cd-bar-actions">
        <button type="button" className="button" onClick={onRestore}>
          Restore
        </button>
        <button type="button" className="button is-quiet" onClick={discard}>
          Discard
        </button>
      </span>
    </div>
  )
}
