import { isLockstepError } from '@lockstep/client'
import { CookieNotKept } from '../session.ts'
import { errorMessage } from '../ui/failure.tsx'
import { problemMessage } from '../ui/problems.ts'
import { t } from './messages.ts'

/** Error messages by field; `form` is for errors that belong to no field. */
export type FieldErrors<Name extends string> = Partial<Record<Name | 'form', string>>
/** Maps problem codes to the form field they are about. */
export type FieldsByCode<Name extends string> = Partial<Record<string, Name>>

/** Assigns an error response to the fields it is about. */
export function fieldErrors<Name extends string>(error: unknown, fields: FieldsByCode<Name>): FieldErrors<Name> {
  const errors: Record<string, string> = {}
  if (isLockstepError(error)) {
    const field = fields[error.code]
    if (field) errors[field] = problemMessage(error)
    if (error.code === 'invalid_input')
      for (const { field: path, message } of error.errors) errors[path.split('.').at(-1) ?? path] = asSentence(message)
  }
  if (Object.keys(errors).length === 0)
    errors['form'] = error instanceof CookieNotKept ? cookieMessage() : errorMessage(error)
  return errors as FieldErrors<Name>
}

/** In production the cookie is Secure, and browsers keep such a cookie only for pages that were opened with HTTPS. */
const cookieMessage = () =>
  location.protocol === 'http:' ? t.openedWithoutHttps({ address: `https://${location.hostname}` }) : t.cookieNotKept

const asSentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
