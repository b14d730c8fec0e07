import type { FullBoard } from '@lockstep/client'
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { readDraft, useDraftName, writeDraft } from '../card/drafts.ts'
import { mergeText } from '../card/merge-text.ts'
import { Dialog } from '../ui/dialog.tsx'
import { hasCommand } from '../ui/keys.tsx'
import { TooLong, tooLong } from '../ui/too-long.tsx'
import { t } from './board-description-messages.ts'

/** The limit of the server, in characters. */
const MAX_DESCRIPTION = 65_536

interface BoardDescriptionProps {
  readonly view: FullBoard
  readonly onClose: () => void
}

/**
 * Edits the description of the board; only owners may. Ctrl Enter saves, Cancel discards. A dialog that is closed in another way
 * keeps the text as a draft.
 */
export function BoardDescription({ view, onClose }: BoardDescriptionProps) {
  const tools = useTools()
  const draftName = useDraftName(view.id, 'description')
  const theirs = view.description ?? ''
  const [draft, setDraft] = useState(() => readDraft(draftName) ?? { text: theirs, base: theirs })
  const [conflict, setConflict] = useState<string>()
  const { text, base } = draft
  const write = (next: { text: string; base: string }) => {
    setDraft(next)
    writeDraft(draftName, next.text === next.base ? undefined : next)
  }
  const finish = () => {
    writeDraft(draftName, undefined)
    onClose()
  }
  const save = () => {
    if (tooLong(text, MAX_DESCRIPTION)) return
    const merged = theirs === base ? text : mergeText(base, text, theirs)
    if (merged === undefined) {
      setConflict(theirs)
      // The next attempt replaces what is shown now.
      return write({ text, base: theirs })
    }
    if (merged !== theirs)
      tools.showUndoToast(t.saved, tools.change('updateBoard', { description: merged.trim() ? merged : null }))
    finish()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save()
  }
  const handleKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !hasCommand(event) || event.nativeEvent.isComposing) return
    event.preventDefault()
    save()
  }
  return (
    <Dialog title={t.title} onClose={onClose}>
      <form className="dialog-body" onSubmit={submit}>
        {conflict !== undefined && (
          <div className="form-alert" role="alert">
            <p>{t.conflict}</p>
            <p dir="auto">{conflict}</p>
          </div>
        )}
        <textarea
          className="input"
          rows={6}
          dir="auto"
          aria-label={t.title}
          placeholder={t.hint}
          value={text}
          onChange={(event) => write({ text: event.target.value, base })}
          onKeyDown={handleKey}
        />
        <TooLong text={text} max={MAX_DESCRIPTION} />
        <div className="dialog-foot">
          <button type="button" className="button" onClick={finish}>
            {t.cancel}
          </button>
          <button type="submit" className="button is-primary">
            {t.save}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
