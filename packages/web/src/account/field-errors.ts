import { isLockstepError } from '@lockstep/client'
import { errorMessage } from '../ui/failure.tsx'

/** Error messages by field; `form` is for errors that belong to no field. */
export type FieldErrors<Name extends string> = Partial<Record<Name | 'form', string>>
/** Maps problem codes to the form field they are about. */
export type FieldsByCode<Name extends string> = Partial<Record<string, Name>>

/** Messages for users, where the server's text is written for developers. */
const messages: Partial<Record<string, string>> = {
  email_taken: 'This email already has an account. Log in instead.',
  username_taken: 'This username is taken. Choose another one.',
  login_failed: 'Wrong email or password.',
  wrong_password: 'That is not your current password.',
}

/** Assigns an error response to the fields it is about. */
export function fieldErrors<Name extends string>(error: unknown, fields: FieldsByCode<Name>): FieldErrors<Name> {
  const errors: Record<string, string> = {}
  if (isLockstepError(error)) {
    const field = fields[error.code]
    if (field) errors[field] = messages[error.code] ?? error.detail
    if (error.code === 'invalid_input')
      for (const { field: path, message } of error.errors) errors[path.split('.').at(-1) ?? path] = asSentence(message)
  }
  if (Object.keys(errors).length === 0)
    errors['form'] = (isLockstepError(error) && messages[error.code]) || errorMessage(error)
  return errors as FieldErrors<Name>
}

const asSentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
