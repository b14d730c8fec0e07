import { useId } from 'react'
import { t } from './messages.ts'

interface FieldProps {
  label: string
  name: string
  type?: string
  value: string
  onChange: (value: string) => void
  autoComplete?: string
  hint?: string
  error?: string | undefined
  isOptional?: boolean
  autoFocus?: boolean
  dir?: 'auto' | 'ltr'
}

/** An input with label, hint and error message. */
export function Field({ label, error, hint, isOptional = false, onChange, ...input }: FieldProps) {
  const id = useId()
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <p className="field">
      <label htmlFor={id}>
        {label} {isOptional && <small>{t.optional}</small>}
      </label>
      {hint && <small id={`${id}-hint`}>{hint}</small>}
      <input
        {...input}
        id={id}
        required={!isOptional}
        aria-invalid={error !== undefined}
        aria-describedby={described || undefined}
        onChange={(event) => onChange(event.target.value)}
      />
      {error && (
        <small id={`${id}-error`} className="field-error">
          {error}
        </small>
      )}
    </p>
  )
}
