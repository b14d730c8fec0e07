import type { Attachment } from '@lockstep/client'
import { type KeyboardEvent, useDeferredValue, useEffect, useRef, useState } from 'react'
import { Keys } from '../ui/keys.tsx'
import { applyEdit, commandOf, handleFormatKey, selectionOf } from './area-edits.ts'
import { ConflictBar } from './conflict-bar.tsx'
import { type Format, FormatToolbar } from './format-toolbar.tsx'
import { t } from './messages.ts'
import { RenderedText } from './rendered-text.tsx'

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
  /** The images of the card. */
  images: readonly Attachment[]
  imageIds: ReadonlySet<string>
  onWrite: (text: string) => void
  onSave: () => void
  /** Closes the editor and keeps the text as a draft. */
  onLeave: () => void
  onDiscard: () => void
  onKeepMine: () => void
  onKeepTheirs: () => void
  onAttach: () => void
}

/** Markdown editor with a toolbar and a preview, side by side on wide screens. */
export function DescriptionEditor({
  writing,
  theirs,
  images,
  imageIds,
  onWrite,
  onSave,
  onLeave,
  onDiscard,
  onAttach,
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

  const format = (change: Format) => {
    if (!area.current) return
    // The field keeps its selection while a button has the focus.
    area.current.focus()
    applyEdit(area.current, change(selectionOf(area.current)))
  }
  const handleKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    event.stopPropagation()
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') onLeave()
    else if (commandOf(event) === 'enter') onSave()
    else if (!handleFormatKey(event)) return
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
          {t.editedMeanwhile}
        </p>
      )}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div className="cd-tabs" role="group" aria-label={t.writeOrPreview}>
        <button type="button" aria-pressed={tab === 'write'} onClick={() => setTab('write')}>
          {t.write}
        </button>
        <button type="button" aria-pressed={tab === 'preview'} onClick={() => setTab('preview')}>
          {t.preview}
        </button>
      </div>
      <FormatToolbar onFormat={format} images={images} onAttach={onAttach} />
      <div className="cd-editor-panes">
        <textarea
          ref={area}
          className="cd-area"
          dir="auto"
          aria-label={t.descriptionField}
          placeholder={t.descriptionHint}
          value={text}
          onChange={(event) => onWrite(event.target.value)}
          onKeyDown={handleKey}
        />
        {/* biome-ignore lint/a11y/useSemanticElements: a section would add another landmark */}
        <div className="cd-preview" role="region" aria-label={t.preview}>
          {preview.trim() ? (
            <RenderedText text={preview} images={imageIds} />
          ) : (
            <p className="hint">{t.nothingToPreview}</p>
          )}
        </div>
      </div>
      <div className="cd-editor-foot">
        <button type="button" className="button is-primary" onClick={onSave}>
          {t.save} <Keys keys="Ctrl Enter" />
        </button>
        <button type="button" className="button is-quiet" onClick={onLeave}>
          {isDirty ? t.keepAsDraft : t.close} <Keys keys="Esc" />
        </button>
        {isDirty && (
          <button type="button" className="button is-quiet" onClick={onDiscard}>
            {t.discard}
          </button>
        )}
      </div>
    </div>
  )
}
