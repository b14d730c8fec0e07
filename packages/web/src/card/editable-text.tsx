import { type KeyboardEvent, type RefObject, useEffect, useReducer, useRef, useState } from 'react'
import { TooLong, tooLong } from '../ui/too-long.tsx'
import { DraftBar } from './draft-bar.tsx'
import { keepDraft, readDraft, useDraftName, useForgotten } from './drafts.ts'

interface EditableTextProps {
  /** What the text is of: its drafts are kept under it. */
  id: string
  field: string
  value: string
  label: string
  max: number
  className: string
  onSave: (text: string, base: string, draft_name: string) => void
  /** The button that shows the text: a click begins to edit. */
  button?: RefObject<HTMLButtonElement | null>
}

/**
 * A line of text that becomes a field when it is clicked. Enter and leaving save; Escape cancels. A text that is too long
 * stays in the field. What was typed when the page is reloaded is offered as a draft.
 */
export function EditableText({ id, field, value, label, max, className, onSave, button }: EditableTextProps) {
  const name = useDraftName(id, field)
  const own = useRef<HTMLButtonElement>(null)
  const shown = button ?? own
  const area = useRef<HTMLTextAreaElement>(null)
  const [editing, setEditing] = useState<{ text: string; base: string }>()
  useForgotten(id, name, value)
  const [, lookAgain] = useReducer((count: number) => count + 1, 0)
  const isEditing = editing !== undefined
  useEffect(() => {
    if (isEditing) area.current?.focus()
    if (isEditing) area.current?.setSelectionRange(area.current.value.length, area.current.value.length)
  }, [isEditing])

  const draft = isEditing ? undefined : readDraft(name)
  const begin = () => setEditing({ text: draft?.text ?? value, base: value })
  const write = (text: string) => {
    const next = { text: text.replaceAll('\n', ' '), base: editing?.base ?? value }
    setEditing(next)
    keepDraft(name, next.text.trim() && next.text !== next.base ? next : undefined)
  }
  const finish = () => {
    if (!editing || tooLong(editing.text, max)) return
    const text = editing.text.trim()
    setEditing(undefined)
    keepDraft(name, undefined)
    // Whoever only looked must not undo what others wrote meanwhile.
    if (text && text !== editing.base && text !== value) onSave(text, editing.base, name)
  }
  const cancel = () => {
    setEditing(undefined)
    keepDraft(name, undefined)
  }
  const steer = (event: KeyboardEvent) => {
    event.stopPropagation()
    if (event.nativeEvent.isComposing || (event.key !== 'Enter' && event.key !== 'Escape')) return
    event.preventDefault()
    if (event.key === 'Escape') cancel()
    else if (editing && tooLong(editing.text, max)) return
    else finish()
    requestAnimationFrame(() => shown.current?.focus())
  }
  if (editing)
    return (
      <>
        <textarea
          ref={area}
          className={`cd-field ${className}`}
          aria-label={label}
          value={editing.text}
          rows={1}
          onChange={(event) => write(event.target.value)}
          onKeyDown={steer}
          onBlur={finish}
        />
        <TooLong text={editing.text} max={max} />
      </>
    )
  return (
    <>
      <button ref={shown} type="button" className={`cd-text ${className}`} title={`Edit: ${label}`} onClick={begin}>
        {value}
      </button>
      {draft && draft.text !== value && <DraftBar name={name} draft={draft} onRestore={begin} onChange={lookAgain} />}
    </>
  )
}
