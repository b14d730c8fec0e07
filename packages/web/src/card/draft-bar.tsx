import { shortMomentOf } from '../ui/moment.ts'
import { showToast } from '../ui/toasts.tsx'
import { type Draft, keepDraft } from './drafts.ts'

interface DraftBarProps {
  name: string
  draft: Draft
  onRestore: () => void
  /** Something about the drafts is other than it was: look again. */
  onChange: () => void
}

/** What was written and not saved is offered until somebody decides. */
export function DraftBar({ name, draft, onRestore, onChange }: DraftBarProps) {
  const isShort = draft.text.length <= 80 && !draft.text.includes('\n')
  const discard = () => {
    keepDraft(name, undefined)
    onChange()
    const restore = () => {
      keepDraft(name, draft)
      onChange()
    }
    showToast('Draft discarded', { label: 'Undo', run: restore })
  }
  return (
    <div className="cd-bar" role="status">
      <span>
        Unsaved draft from <time dateTime={draft.at}>{shortMomentOf(draft.at)}</time>
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
