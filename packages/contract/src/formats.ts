interface Format {
  test: (value: string) => boolean
  says: string
}

/** PostgreSQL stores neither NUL nor half a surrogate pair; we refuse them rather than change what was typed. */
const isStorable = (value: string) => value.isWellFormed() && !value.includes('\0')

/** What a string may look like, and how we say so. The service, the documents and a client share these tests. */
export const formats = {
  uuid: {
    test: (value: string) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(value),
    says: 'must be a UUID in its hyphenated form',
  },
  email: {
    test: (value: string) =>
      isStorable(value) &&
      /^(?!\.)(?!.*\.\.)[^\s@"(),:;<>[\]\\\p{C}]{1,64}(?<!\.)@(?:(?!-)[\p{L}\p{N}-]{1,63}(?<!-)\.)+(?!-)[\p{L}\p{N}-]{2,63}(?<!-)$/u.test(
        value,
      ),
    says: 'must be an e-mail address',
  },
  text: {
    test: isStorable,
    says: 'must not contain a NUL character or an unpaired surrogate',
  },
  'visible-text': {
    test: (value: string) => isStorable(value) && /[^\s\p{Z}\p{Cc}\p{Cf}]/u.test(value),
    says: 'must contain a visible character, and neither a NUL character nor an unpaired surrogate',
  },
  position: {
    test: (value: string) => /^\d{1,15}(\.\d{1,15})?$/.test(value),
    says: 'must be a position, <epoch>.<seq>, or a number',
  },
  'date-time': {
    test: (value: string) => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(value),
    says: 'must be an ISO 8601 time in UTC',
  },
} as const satisfies Record<string, Format>
