interface Format {
  test: (value: string) => boolean
  says: string
}

/** PostgreSQL can store neither NUL nor an unpaired surrogate. They are rejected, because removing them would change the text. */
const isStorable = (value: string) => value.isWellFormed() && !value.includes('\0')

/** Size of a text as JSON in UTF-8: a quotation mark and a backslash take two bytes. */
const jsonBytes = (value: string) => new TextEncoder().encode(JSON.stringify(value)).length - 2
const MAX_EMAIL_BYTES = 254
const MAX_NAME_BYTES = 255

/** The recommended scripts of identifiers, grouped by those that may be mixed in one name (UTS 39, highly restrictive). */
const scriptSets: string[][] = [
  ...[
    'Han Hiragana Katakana Latin',
    'Han Bopomofo Latin',
    'Han Hangul Latin',
    'Greek',
    'Cyrillic',
    'Armenian',
    'Hebrew',
  ],
  ...['Arabic', 'Thaana', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu', 'Kannada'],
  ...['Malayalam', 'Sinhala', 'Thai', 'Lao', 'Tibetan', 'Myanmar', 'Georgian', 'Ethiopic', 'Khmer'],
].map((scripts) => scripts.split(' '))
const inScripts = (scripts: string[]) => scripts.map((script) => `\\p{Script_Extensions=${script}}`).join('')
const NEUTRAL = '\\p{Script=Common}\\p{Script=Inherited}'
const oneScript = scriptSets.map((scripts) => new RegExp(`^[${NEUTRAL}${inScripts(scripts)}]*$`, 'u'))
/** Finds one letter of these scripts. A pattern for all other letters would backtrack exponentially. */
const listedScript = new RegExp(`(?![${NEUTRAL}])[${scriptSets.map(inScripts).join('')}]`, 'u')
const isOneScript = (value: string) => {
  // Like the comparison of names: a styled letter is the same as the plain letter.
  const plain = value.normalize('NFKC')
  // A name without any letter of the listed scripts is accepted.
  return oneScript.some((script) => script.test(plain)) || !listedScript.test(plain)
}

/** A day that exists: `Date` moves 30 February to March. */
function isDay(value: string): boolean {
  if (!/^(19[7-9]|2\d\d)\d-\d{2}-\d{2}$/.test(value)) return false
  const time = Date.parse(`${value}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value)
}

/** String formats: a test and the end of its error message. Used by the service, the documentation and clients. */
export const formats = {
  uuid: {
    test: (value: string) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(value),
    says: 'must be a UUID in its hyphenated form',
  },
  email: {
    test: (value: string) =>
      isStorable(value) &&
      jsonBytes(value) <= MAX_EMAIL_BYTES &&
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
  'person-name': {
    test: (value: string) => isStorable(value) && !/\p{Cc}/u.test(value) && jsonBytes(value) <= MAX_NAME_BYTES,
    says: `must have no control characters and at most ${MAX_NAME_BYTES} bytes in UTF-8, where a quotation mark and a backslash count as two`,
  },
  username: {
    test: (value: string) =>
      isStorable(value) &&
      !/^[\s\p{Z}]|[\s\p{Z}]$|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u.test(value) &&
      isOneScript(value),
    says: 'must have no invisible characters, no white space at its ends, and letters of one script',
  },
  position: {
    test: (value: string) => /^\d{1,15}(\.\d{1,15})?$/.test(value),
    says: 'must be a position, <epoch>.<seq>, or a number',
  },
  'start-position': {
    test: (value: string) => /^(now|0|\d{1,15}\.\d{1,15})$/.test(value),
    says: 'must be a position, <epoch>.<seq>, or 0 or now',
  },
  'web-url': {
    // `URL` removes tabs and line breaks, so the text would show another address than the one that is called.
    test: (value: string) =>
      isStorable(value) && !/\p{Cc}/u.test(value) && /^https?:$/.test(URL.parse(value)?.protocol ?? ''),
    says: 'must be an http or https URL without control characters',
  },
  cursor: {
    test: (value: string) => /^\d{1,16}_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value),
    says: 'must be the cursor of a Link header',
  },
  date: {
    test: isDay,
    says: 'must be a calendar day, YYYY-MM-DD, between 1970-01-01 and 2999-12-31',
  },
  'date-time': {
    test: (value: string) => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(value),
    says: 'must be an ISO 8601 time in UTC',
  },
} as const satisfies Record<string, Format>
