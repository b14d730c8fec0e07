import { type KeyboardEvent, type RefObject, useRef } from 'react'
import { TooLong, tooLong } from '../ui/too-long.tsx'
import { useDraftName, useKeptText } from './drafts.ts'

interface NewTextProps {
  id: string
  field: string
  label: string
  max: number
  /** Makes one of what was typed. The field stays, for the next one. */
  onAdd: (text: string) => void
  onEscape?: () => void
  input?: RefObject<HTMLInputElement | null>
}

/** Where something new is written. What was typed and not added is there again, whatever happened. */
export function NewText({ id, field, label, max, onAdd, onEscape, input }: NewTextProps) {
  const own = useRef<HTMLInputElement>(null)
  const ref = input ?? own
  const [text, write] = useKeptText(useDraftName(id, field))
  const add = () => {
    if (!tooLong(text, max)) {
      if (text.trim()) onAdd(text.trim())
      write('')
    }
    ref.current?.focus()
  }
  const steer = (event: KeyboardEvent) => {
    event.stopPropagation()
    if (event.nativeEvent.isComposing || (event.key !== 'Enter' && event.key !== 'Escape')) return
    event.preventDefault()
    if (event.key === 'Enter') add()
    else if (onEscape) onEscape()
    else ref.current?.blur()
  }
  return (
    <span className="cd-new">
      <input
        ref={ref}
        className="input"
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={(event) => write(event.target.value)}
        onKeyDown={steer}
      />
      {text.trim() && (
        <button type="button" className="button" onClick={add}>
          Add
        </button>
      )}
      <TooLong text={text} max={max} />
    </span>
  )
}
