import { type KeyboardEvent, useDeferredValue, useEffect, useRef, useState } from 'react'
import { hasCommand, Keys } from '../ui/keys.tsx'
import { ConflictBar } from './conflict-bar.tsx'
import { Rendered } from './rendered.tsx'
import { continueList, type Edit, link, wrap } from './text-keys.ts'

/** What somebody writes, and whether the same lines were changed by somebody else (who). */
export interface Writing {
  text: string
  base: string
  conflict?: string | undefined
  /** Why the service did not take it. */
  problem?: string | undefined
}

interface DescriptionEditorProps {
  writing: Writing
  /** The text as it is on the board now. */
  theirs: string
  onWrite: (text: string) => void
  onSave: () => void
  /** Leaves the text as it is; what was typed is a draft. */
  onLeave: () => void
  onDiscard: () => void
  onUseMine: () => void
  onUseTheirs: () => void
}

/** Markdown and how it will look, side by side where there is room. */
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

  const steer = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    event.stopPropagation()
    if (event.nativeEvent.isComposing) return
    const { value, selectionStart: start, selectionEnd: end } = event.currentTarget
    const selected = { text: value, start, end }
    const command = hasCommand(event) && !event.shiftKey && !event.altKey ? event.key.toLowerCase() : undefined
    if (event.key === 'Escape') onLeave()
    else if (command === 'enter') onSave()
    else if (command === 'b') put(event.currentTarget, wrap(selected, '**'))
    else if (command === 'i') put(event.currentTarget, wrap(selected, '_'))
    else if (command === 'k') put(event.currentTarget, link(selected))
    else {
      const isPlainEnter = event.key === 'Enter' && !event.shiftKey && !event.altKey && command === undefined
      const edit = isPlainEnter && continueList(selected)
      if (!edit) return
      put(event.currentTarget, edit)
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
          Somebody changed this text while you write. When you save, both are brought together.
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
          placeholder="Markdown: **bold**, _italic_, - list, - [ ] task. Pasted pictures are attached."
          value={text}
          onChange={(event) => onWrite(event.target.value)}
          onKeyDown={steer}
        />
        {/* biome-ignore lint/a11y/useSemanticElements: a section of its own would be one landmark too many */}
        <div className="cd-preview" role="region" aria-label="Preview">
          {preview.trim() ? <Rendered text={preview} /> : <p className="hint">Nothing to preview yet.</p>}
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

/** Through the browser's own editing, so that its undo knows of it. */
function put(area: HTMLTextAreaElement, { from, to, insert, start, end }: Edit) {
  area.setSelectionRange(from, to)
  if (insert) document.execCommand('insertText', false, insert)
  else if (from !== to) document.execCommand('delete')
  area.setSelectionRange(start, end)
}
