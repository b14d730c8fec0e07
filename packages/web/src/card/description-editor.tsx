import { type KeyboardEvent, useDeferredValue, useEffect, useRef, useState } from 'react'
import { hasCommand, Keys } from '../ui/keys.tsx'
import { ConflictBar } from './conflict-bar.tsx'
import { RenderedText } from './rendered-text.tsx'
import { continueList, link, type TextEdit, wrap } from './text-keys.ts'

/** The text being edited. `conflict` is the name of a user who edited the same lines. */
export interface DescriptionDraft {
  text: string
  base: string
  conflict?: string | undefined
  /** Why the server rejected it. */
  problem?: string | undefined
}

interface DescriptionEditorProps {
  writing: DescriptionDraft
  /** The saved text, including changes by others. */
  theirs: string
  onWrite: (text: string) => void
  onSave: () => void
  /** Closes the editor and keeps the text as a draft. */
  onLeave: () => void
  onDiscard: () => void
  onKeepMine: () => void
  onKeepTheirs: () => void
}

/** Markdown editor with a preview, side by side on wide screens. */
export function DescriptionEditor({
  writing,
  theirs,
  onWrite,
  onSave,
  onLeave,
  onDiscard,
  ...choice
}: DescriptionEditorProps) {
  const { text, base, conflict, problem } = writing
  const [tab, setTab] = useState<'write' | 'preview'>('write')
  const area = useRef<HTMLTextAreaElement>(null)
  const preview = useDeferredValue(text)
  const isDirty = text !== base
  useEffect(() => {
    if (tab === 'write') area.current?.focus()
  }, [tab])

  const handleKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    event.stopPropagation()
    if (event.nativeEvent.isComposing) return
    const { value, selectionStart: start, selectionEnd: end } = event.currentTarget
    const selected = { text: value, start, end }
    const command = hasCommand(event) && !event.shiftKey && !event.altKey ? event.key.toLowerCase() : undefined
    if (event.key === 'Escape') onLeave()
    else if (command === 'enter') onSave()
    else if (command === 'b') applyEdit(event.currentTarget, wrap(selected, '**'))
    else if (command === 'i') applyEdit(event.currentTarget, wrap(selected, '_'))
    else if (command === 'k') applyEdit(event.currentTarget, link(selected))
    else {
      const isPlainEnter = event.key === 'Enter' && !event.shiftKey && !event.altKey && command === undefined
      const edit = isPlainEnter && continueList(selected)
      if (!edit) return
      applyEdit(event.currentTarget, edit)
    }
    event.preventDefault()
  }

  return (
    <div className={`cd-editor is-${tab}`}>
      {conflict && <ConflictBar who={conflict} mine={text} theirs={theirs} {...choice} />}
      {problem && (
        <p className="cd-bar is-danger" role="alert">
          {problem}
        </p>
      )}
      {!conflict && theirs !== base && (
        <p className="cd-bar" role="status">
          Someone else edited this while you were writing. Saving keeps both edits.
        </p>
      )}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div className="cd-tabs" role="group" aria-label="Write or preview">
        <button type="button" aria-pressed={tab === 'write'} onClick={() => setTab('write')}>
          Write
        </button>
        <button type="button" aria-pressed={tab === 'preview'} onClick={() => setTab('preview')}>
          Preview
        </button>
      </div>
      <div className="cd-editor-panes">
        <textarea
          ref={area}
          className="cd-area"
          aria-label="Description, in Markdown"
          placeholder="Markdown: **bold**, _italic_, - list, - [ ] task. Pasted images are attached."
          value={text}
          onChange={(event) => onWrite(event.target.value)}
          onKeyDown={handleKey}
        />
        {/* biome-ignore lint/a11y/useSemanticElements: a section would add another landmark */}
        <div className="cd-preview" role="region" aria-label="Preview">
          {preview.trim() ? <RenderedText text={preview} /> : <p className="hint">Nothing to preview yet.</p>}
        </div>
      </div>
      <div className="cd-editor-foot">
        <button type="button" className="button is-primary" onClick={onSave}>
          Save <Keys keys="Ctrl Enter" />
        </button>
        <button type="button" className="button is-quiet" onClick={onLeave}>
          {isDirty ? 'Keep as draft' : 'Close'} <Keys keys="Esc" />
        </button>
        {isDirty && (
          <button type="button" className="button is-quiet" onClick={onDiscard}>
            Discard
          </button>
        )}
      </div>
    </div>
  )
}

/** Applies an edit through `execCommand`, so that the browser's undo includes it. */
function applyEdit(area: HTMLTextAreaElement, { from, to, insert, start, end }: TextEdit) {
  area.setSelectionRange(from, to)
  if (insert) document.execCommand('insertText', false, insert)
  else if (from !== to) document.execCommand('delete')
  area.setSelectionRange(start, end)
}
