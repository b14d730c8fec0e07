import { type FormEvent, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { type FieldErrors, type FieldsByCode, fieldErrors } from './field-errors.ts'

/** State of a form: values, errors, and whether it is being sent. */
export function useForm<Name extends string>(
  initial: Record<Name, string>,
  fields: FieldsByCode<NoInfer<Name>>,
  send: (values: Record<Name, string>) => Promise<void>,
  /** Messages for required fields. A form with an empty one is not sent. */
  required: Partial<Record<NoInfer<Name>, string>> = {},
) {
  const form = useRef<HTMLFormElement>(null)
  const [values, setValues] = useState(initial)
  const [errors, setErrors] = useState<FieldErrors<Name>>({})
  const [isBusy, setBusy] = useState(false)
  const showErrors = (found: FieldErrors<Name>) => {
    flushSync(() => setErrors(found))
    form.current?.querySelector<HTMLElement>('[role=alert], [aria-invalid=true]')?.focus()
  }
  const submit = async () => {
    if (isBusy) return
    const empty = Object.entries(required).filter(([name]) => values[name as Name] === '')
    if (empty.length > 0) return showErrors(Object.fromEntries(empty) as FieldErrors<Name>)
    setBusy(true)
    try {
      await send(values)
      setErrors({})
    } catch (error) {
      showErrors(fieldErrors(error, fields))
    } finally {
      setBusy(false)
    }
  }
  return {
    values,
    setValues,
    isBusy,
    /** The error that belongs to no field. */
    failure: errors.form as string | undefined,
    form: {
      ref: form,
      noValidate: true,
      onSubmit: (event: FormEvent) => {
        event.preventDefault()
        void submit()
      },
    },
    field: (name: Name) => ({
      name,
      value: values[name],
      error: errors[name] as string | undefined,
      onChange: (value: string) => setValues((now) => ({ ...now, [name]: value })),
    }),
  }
}
