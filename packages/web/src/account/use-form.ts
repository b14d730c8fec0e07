import { type FormEvent, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { type FieldErrors, type FieldsByCode, fieldErrors } from './field-errors.ts'

/** A form that is sent to the service: its values, what was wrong with them, and whether it is on its way. */
export function useForm<Name extends string>(
  initial: Record<Name, string>,
  fields: FieldsByCode<NoInfer<Name>>,
  send: (values: Record<Name, string>) => Promise<void>,
  /** What to say of a field that must not be empty. A form that lacks one is not sent. */
  needed: Partial<Record<NoInfer<Name>, string>> = {},
) {
  const form = useRef<HTMLFormElement>(null)
  const [values, setValues] = useState(initial)
  const [errors, setErrors] = useState<FieldErrors<Name>>({})
  const [isBusy, setBusy] = useState(false)
  const refuse = (found: FieldErrors<Name>) => {
    flushSync(() => setErrors(found))
    form.current?.querySelector<HTMLElement>('[role=alert], [aria-invalid=true]')?.focus()
  }
  const submit = async () => {
    if (isBusy) return
    const empty = Object.entries(needed).filter(([name]) => values[name as Name] === '')
    if (empty.length > 0) return refuse(Object.fromEntries(empty) as FieldErrors<Name>)
    setBusy(true)
    try {
      await send(values)
      setErrors({})
    } catch (error) {
      refuse(fieldErrors(error, fields))
    } finally {
      setBusy(false)
    }
  }
  return {
    values,
    setValues,
    isBusy,
    /** What is wrong with no single field. */
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
