import { isLockstepError } from '@lockstep/client'
import { sentenceOf } from '../ui/failure.tsx'

/** What is wrong, by field; `form` is what concerns no single one. */
export type FieldErrors<Name extends string> = Partial<Record<Name | 'form', string>>
/** Which field of a form a code of the service speaks of. */
export type FieldsByCode<Name extends string> = Partial<Record<string, Name>>

/** In the words of a form, where those of the service are for programs. */
const words: Partial<Record<string, string>> = {
  email_taken: 'There is an account with this e-mail already.',
  username_taken: 'Somebody has this name already.',
  login_failed: 'The e-mail or the password is wrong.',
  wrong_password: 'This is not your current password.',
}

/** Puts a refusal to the fields it is about. */
export function fieldErrors<Name extends string>(error: unknown, fields: FieldsByCode<Name>): FieldErrors<Name> {
  const errors: Record<string, string> = {}
  if (isLockstepError(error)) {
    const field = fields[error.code]
    if (field) errors[field] = words[error.code] ?? error.detail
    if (error.code === 'invalid_input')
      for (const { field: path, message } of error.errors) errors[path.split('.').at(-1) ?? path] = asSentence(message)
  }
  if (Object.keys(errors).length === 0)
    errors['form'] = (isLockstepError(error) && words[error.code]) || sentenceOf(error)
  return errors as FieldErrors<Name>
}

const asSentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
