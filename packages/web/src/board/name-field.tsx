import { useEffect, useRef, useState } from 'react'
import { showToast } from '../ui/toasts.ts'
import { tooLong } from '../ui/too-long.tsx'
import { t } from './messages.ts'

interface NameFieldProps {
  label: string
  value: string
  /** Called only if the name has changed. */
  onSave: (value: string) => void
  onDone: () => void
  /** Called after Enter or Escape; the caller sets the focus. */
  onKey: () => void
  className?: string
}

/** Edits a name in place. Enter and blur save, Escape cancels. */
export function NameField({ label, value, onSave, onDone, onKey, className = 'input' }: NameFieldProps) {
  const [base] = useState(value)
  const [text, setText] = useState(base)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.select(), [])
  /** Returns whether the field can close: a name that is too long stays in it. */
  const save = (): boolean => {
    const name = text.trim()
    const error = tooLong(name)
    if (error) showToast(t.shortenToSave({ error }))
    // An unchanged name must not overwrite a change by another user.
    else if (name && name !== base) onSave(name)
    return !error
  }
  return (
    <input
      ref={field}
      className={className}
      dir="auto"
      aria-label={label}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => {
        if (save()) onDone()
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== 'Escape') return
        // The key must not also activate the button that gets the focus.
        event.preventDefault()
        if (event.key === 'Escape' || save()) onKey()
      }}
    />
  )
}
