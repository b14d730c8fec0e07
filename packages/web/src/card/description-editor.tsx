import type { Attachment } from '@lockstep/client'
import { type KeyboardEvent, useDeferredValue, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Keys } from '../ui/keys.tsx'
import { applyEdit, commandOf, handleFormatKey, selectionOf } from './area-edits.ts'
import { ConflictBar } from './conflict-bar.tsx'
import { type Format, FormatToolbar } from './format-toolbar.tsx'
import { t } from './messages.ts'
import { RenderedText } from './rendered-text.tsx'
import { UploadingImage } from './uploading-image.tsx'
import { usePastedImages } from './use-pasted-images.ts'

/** The text being edited. `conflict` is the name of a user who edited the same lines. */
export interface DescriptionDraft {
  text: string
  base: string
  conflict?: string | undefined
  /** Why the server rejected it. */
  problem?: string | undefined
}

interface DescriptionEditorProps {
  card_id: string
  writing: DescriptionDraft
  /** The saved text, including changes by others. */
  theirs: string
  /** Who saved a text: a name, `t.you` or `t.someone`. */
  authorOf: (text: string) => Promise<string>
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
  card_id,
  writing,
  theirs,
  authorOf,
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
  // Without an edit of one's own, the editor takes the new text.
  const isOutdated = !conflict && isDirty && theirs !== base
  const [author, setAuthor] = useState<{ of: string; who: string }>()
  useEffect(() => {
    if (isOutdated) void authorOf(theirs).then((who) => setAuthor({ of: theirs, who }))
  }, [isOutdated, theirs, authorOf])
  const pasted = usePastedImages(card_id, area, text)
  const save = () => {
    if (!pasted.isUploading) onSave()
  }
  // Before the dialog sees that the focused button disappeared, and takes the focus.
  useLayoutEffect(() => {
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
    else if (commandOf(event) === 'enter') save()
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
      {isOutdated && author?.of === theirs && (
        <p className="cd-bar" role="status">
          {author.who === t.you ? t.youEditedMeanwhile : t.editedMeanwhile({ who: author.who })}
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
          onPaste={pasted.onPaste}
          onDrop={pasted.onDrop}
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
      {pasted.isUploading && <UploadingImage />}
      <div className="cd-editor-foot">
        <button type="button" className="button is-primary" aria-disabled={pasted.isUploading} onClick={save}>
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
