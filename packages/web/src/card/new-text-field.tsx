import { type KeyboardEvent, type RefObject, useRef } from 'react'
import { TooLong, tooLong } from '../ui/too-long.tsx'
import { useDraftName, useDraftText } from './drafts.ts'
import { t } from './messages.ts'

interface NewTextFieldProps {
  id: string
  field: string
  label: string
  max: number
  /** Called with the text. The field stays open for the next one. */
  onAdd: (text: string) => void
  onEscape?: () => void
  input?: RefObject<HTMLInputElement | null>
}

/** A field for a new checklist or item. Unsaved text is kept as a draft. */
export function NewTextField({ id, field, label, max, onAdd, onEscape, input }: NewTextFieldProps) {
  const own = useRef<HTMLInputElement>(null)
  const ref = input ?? own
  const [text, write] = useDraftText(useDraftName(id, field))
  const add = () => {
    if (!tooLong(text, max)) {
      if (text.trim()) onAdd(text.trim())
      write('')
    }
    ref.current?.focus()
  }
  const handleKey = (event: KeyboardEvent) => {
    event.stopPropagation()
    if (event.nativeEvent.isComposing || (event.key !== 'Enter' && event.key !== 'Escape')) return
    event.preventDefault()
    if (event.key === 'Enter') add()
    else if (onEscape) onEscape()
    // Like the field for a comment.
    else ref.current?.closest('section')?.focus()
  }
  return (
    <span className="cd-new">
      <input
        ref={ref}
        className="input"
        aria-label={label}
        placeholder={label}
        dir="auto"
        value={text}
        onChange={(event) => write(event.target.value)}
        onKeyDown={handleKey}
      />
      {text.trim() && (
        <button type="button" className="button" onClick={add}>
          {t.add}
        </button>
      )}
      <TooLong text={text} max={max} />
    </span>
  )
}
