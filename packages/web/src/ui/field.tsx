import { useId } from 'react'

interface FieldProps {
  label: string
  name: string
  type?: string
  value: string
  onChange: (value: string) => void
  autoComplete?: string
  hint?: string
  error?: string | undefined
  is_optional?: boolean
  autoFocus?: boolean
}

/** A field with its label above it, its hint before anybody types, and its error beside it. */
export function Field({ label, error, hint, is_optional = false, onChange, ...input }: FieldProps) {
  const id = useId()
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <p className="field">
      <label htmlFor={id}>
        {label} {is_optional && <small>optional</small>}
      </label>
      {hint && <small id={`${id}-hint`}>{hint}</small>}
      <input
        {...input}
        id={id}
        required={!is_optional}
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
