import { shortDate } from '../ui/dates.ts'
import { showToast } from '../ui/toasts.ts'
import { type Draft, writeDraft } from './drafts.ts'
import { t } from './messages.ts'

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
    showToast(t.draftDiscarded, { label: t.undo, run: restore })
  }
  return (
    <div className="cd-bar" role="status">
      <span>
        {t.unsavedDraftFrom} <time dateTime={draft.at}>{shortDate(draft.at)}</time>
        {isShort && <span dir="auto">{t.draftText({ text: draft.text })}</span>}
      </span>
      <span className="cd-bar-actions">
        <button type="button" className="button" onClick={onRestore}>
          {t.restore}
        </button>
        <button type="button" className="button is-quiet" onClick={discard}>
          {t.discard}
        </button>
      </span>
    </div>
  )
}
