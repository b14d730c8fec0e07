/** What a title may have at most, counted as the service counts: by characters. */
const MAX_TITLE = 255

/** What is wrong with the length of a text, in words; undefined if it fits. */
export function tooLong(text: string, max = MAX_TITLE): string | undefined {
  const length = Array.from(text.trim()).length
  return length > max ? `Too long: ${length} of ${max} characters` : undefined
}

/** Says under a field that its text is too long. The text stays as it is. */
export function TooLong({ text, max }: { text: string; max?: number }) {
  const words = tooLong(text, max)
  return words ? (
    <p className="too-long" role="status">
      {words}
    </p>
  ) : null
}
