import { useEffect, useRef, useState } from 'react'
import { showToast } from '../ui/toasts.tsx'
import { tooLong } from '../ui/too-long.tsx'

interface NameFieldProps {
  label: string
  value: string
  /** Told only what is a new name. */
  onSave: (value: string) => void
  onDone: () => void
  /** Done by a key, so that the focus has nowhere to be yet. */
  onKey: () => void
  className?: string
}

/** A name that is changed in its place: Enter and leaving save it, Escape leaves it as it was. */
export function NameField({ label, value, onSave, onDone, onKey, className = 'input' }: NameFieldProps) {
  const [base] = useState(value)
  const [text, setText] = useState(base)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.select(), [])
  /** Tells whether the field can be left: a name that is too long stays in it. */
  const save = (): boolean => {
    const name = text.trim()
    const wrong = tooLong(name)
    if (wrong) showToast(`${wrong}. Shorten it to save it.`)
    // Whoever only looked must not undo what others wrote meanwhile.
    else if (name && name !== base) onSave(name)
    return !wrong
  }
  return (
    <input
      ref={field}
      className={className}
      aria-label={label}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => {
        if (save()) onDone()
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== 'Escape') return
        // The key is done with: it must not press the button that gets the focus.
        event.preventDefault()
        if (event.key === 'Escape' || save()) onKey()
      }}
    />
  )
}
