import { useEffect, useRef, useState } from 'react'

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
  const save = () => {
    const name = text.trim()
    // Whoever only looked must not undo what others wrote meanwhile.
    if (name && name !== base) onSave(name)
  }
  return (
    <input
      ref={field}
      className={className}
      aria-label={label}
      value={text}
      maxLength={255}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => {
        save()
        onDone()
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== 'Escape') return
        // The key is done with: it must not press the button that gets the focus.
        event.preventDefault()
        if (event.key === 'Enter') save()
        onKey()
      }}
    />
  )
}
