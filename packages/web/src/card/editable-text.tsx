import { type KeyboardEvent, type RefObject, useLayoutEffect, useReducer, useRef, useState } from 'react'
import { focusAfterRender } from '../ui/focus.ts'
import { TooLong, tooLong } from '../ui/too-long.tsx'
import { DraftBar } from './draft-bar.tsx'
import { readDraft, useDiscardSavedDraft, useDraftName, writeDraft } from './drafts.ts'
import { t } from './messages.ts'

interface EditableTextProps {
  /** Id of the object that the text belongs to; part of the draft's key. */
  id: string
  field: string
  value: string
  label: string
  max: number
  className: string
  onSave: (text: string, base: string, draftName: string) => void
  /** The button that shows the text. A click starts editing. */
  button?: RefObject<HTMLButtonElement | null>
  /** Whether it has the focus when its dialog opens. */
  isFirst?: boolean
}

/**
 * A line of text that can be edited in place. Enter and blur save, Escape cancels. A text that is too long stays in the field.
 * After a reload, unsaved text is offered as a draft.
 */
export function EditableText(props: EditableTextProps) {
  const { id, field, value, label, max, className, onSave, button, isFirst = false } = props
  const name = useDraftName(id, field)
  const own = useRef<HTMLButtonElement>(null)
  const shown = button ?? own
  const area = useRef<HTMLTextAreaElement>(null)
  const [editing, setEditing] = useState<{ text: string; base: string }>()
  useDiscardSavedDraft(id, name, value)
  const [, rerender] = useReducer((count: number) => count + 1, 0)
  const isEditing = editing !== undefined
  // Before the dialog sees that the focused button disappeared, and takes the focus.
  useLayoutEffect(() => {
    if (isEditing) area.current?.focus()
    if (isEditing) area.current?.setSelectionRange(area.current.value.length, area.current.value.length)
  }, [isEditing])

  const draft = isEditing ? undefined : readDraft(name)
  const begin = () => setEditing({ text: draft?.text ?? value, base: value })
  const write = (text: string) => {
    const next = { text: text.replaceAll('\n', ' '), base: editing?.base ?? value }
    setEditing(next)
    writeDraft(name, next.text.trim() && next.text !== next.base ? next : undefined)
  }
  const finish = () => {
    if (!editing || tooLong(editing.text, max)) return
    const text = editing.text.trim()
    setEditing(undefined)
    writeDraft(name, undefined)
    // An unchanged text must not overwrite a change by another user.
    if (text && text !== editing.base && text !== value) onSave(text, editing.base, name)
  }
  const cancel = () => {
    setEditing(undefined)
    writeDraft(name, undefined)
  }
  const handleKey = (event: KeyboardEvent) => {
    event.stopPropagation()
    if (event.nativeEvent.isComposing || (event.key !== 'Enter' && event.key !== 'Escape')) return
    event.preventDefault()
    if (event.key === 'Escape') cancel()
    else if (editing && tooLong(editing.text, max)) return
    else finish()
    focusAfterRender(() => shown.current)
  }
  if (editing)
    return (
      <>
        <textarea
          ref={area}
          className={`cd-field ${className}`}
          aria-label={label}
          dir="auto"
          value={editing.text}
          rows={1}
          onChange={(event) => write(event.target.value)}
          onKeyDown={handleKey}
          onBlur={finish}
        />
        <TooLong text={editing.text} max={max} />
      </>
    )
  return (
    <>
      <button
        ref={shown}
        type="button"
        className={`cd-text ${className}`}
        title={t.editField({ label })}
        dir="auto"
        {...(isFirst && { 'data-first': '' })}
        onClick={begin}
      >
        {value}
      </button>
      {draft && draft.text !== value && <DraftBar name={name} draft={draft} onRestore={begin} onChange={rerender} />}
    </>
  )
}
