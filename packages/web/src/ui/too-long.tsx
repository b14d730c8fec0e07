import { t } from './messages.ts'

/** Maximum length of a title in characters, counted as the server counts. */
const MAX_TITLE = 255

/** An error message if the text is too long. */
export function tooLong(text: string, max = MAX_TITLE): string | undefined {
  const length = Array.from(text.trim()).length
  return length > max ? t.tooLong({ length, max }) : undefined
}

/** Shows under a field that its text is too long. The text is not cut. */
export function TooLong({ text, max }: { text: string; max?: number }) {
  const message = tooLong(text, max)
  return message ? (
    <p className="too-long" role="status">
      {message}
    </p>
  ) : null
}
