import type { Random } from '@lockstep/testing/random'
import type { Schema } from './document.ts'
import { type KnownBoard, type KnownResources, newId } from './known-resources.ts'

/** Part of many hostile values. It must not appear in any error. */
export const CANARY = 'canary-7d1f'
/** The context of a generated value: known resources, the board, and the random generator. */
export interface Place {
  known: KnownResources
  board: KnownBoard | undefined
  random: Random
}
/** A body as JSON texts by field: some things exist as text alone. */
export type Texts = Record<string, string>

const DEEP = '['.repeat(5_000) + ']'.repeat(5_000)
const words = [
  'Paint',
  'Build the shed',
  'e\u0301',
  '👩‍👩‍👧‍👦 family',
  '\u202etfel ot thgir',
  'ﷺ',
  '𝒳'.repeat(3),
  '<b>&amp;',
  "'; --",
  'ß İ ı ﬁ',
  '\u200dx',
  '%_\\',
]

/** A valid value for a field: a known one by name, or one generated from its schema. */
export function validValue(name: string, schema: Schema, place: Place): unknown {
  const { known, board, random } = place
  if (schema.anyOf && !schema.properties) return validValue(name, random.pick(schema.anyOf), place)
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.type) && !schema.enum)
    return validValue(name, { ...schema, type: random.pick(schema.type) }, place)
  if (schema.enum) return random.pick(schema.enum)
  switch (schema.type) {
    case 'null':
      return null
    case 'boolean':
      return random.below(2) === 0
    case 'integer':
    case 'number':
      return number(schema, random)
    case 'array': {
      const most = Math.min(schema.maxItems ?? 5, random.below(40) === 0 ? 1_000 : 4)
      const items = schema.items ?? {}
      return Array.from({ length: random.below(most + 1) }, () => validValue(name.replace(/s$/, ''), items, place))
    }
    case 'object':
      return validFields(schema, place)
    case 'string':
      if (schema.format === 'uuid') return name === 'id' ? newId(random) : known.idFor(name, board, random)
      if (schema.format === 'email') return `fuzz-${newId(random)}@example.com`
      if (schema.format === 'position') return random.pick(['0', '1', '1.0', '1.5', `1.${random.below(500)}`])
      if (schema.format === 'start-position') return random.pick(['0', 'now', '1.0', `1.${random.below(500)}`])
      if (schema.format === 'web-url') return `${known.receiverUrl}/${random.below(100)}`
      if (schema.format === 'date') return random.pick(['1970-01-01', '2026-11-20', '2028-02-29', '2999-12-31'])
      if (schema.format === 'date-time')
        return random.pick(['1970-01-01T00:00:00.000Z', '2026-11-16T12:00:00.000Z', '2999-12-31T23:59:59.999Z'])
      if (schema.format === 'cursor')
        return `${random.pick([0, 1_794_924_438_613, 999_999_999_999_999])}_${newId(random)}`
      return text(schema, random)
    default:
      return null
  }
}

/** The required fields, and some of the others. */
export function validFields(schema: Schema, place: Place): Record<string, unknown> {
  const { random } = place
  const isWanted = (name: string) => schema.required?.includes(name) || random.below(name === 'id' ? 6 : 2) === 0
  return Object.fromEntries(
    Object.entries(schema.properties ?? {})
      .filter(([name]) => isWanted(name))
      .map(([name, field]) => [name, validValue(name, field, place)]),
  )
}

function number({ minimum = -1_000, maximum = 1_000 }: Schema, random: Random): number {
  return random.pick([minimum, minimum + 1, maximum, Math.min(maximum, Math.max(minimum, random.below(6)))])
}

/** Mostly short; sometimes exactly as long, or as short, as it may be. */
function text({ minLength = 0, maxLength = 400 }: Schema, random: Random): string {
  const word = `${random.pick(words)} ${random.below(1_000)}`
  const dice = random.below(30)
  const length = dice === 0 ? maxLength : dice === 1 ? Math.max(1, minLength) : Math.max(minLength, 8)
  const letters = Array.from(word.padEnd(Math.min(length, 400), 'x'))
  const filled = length > letters.length ? [...letters, ...Array<string>(length - letters.length).fill('x')] : letters
  const cut = filled.slice(0, Math.max(minLength, Math.min(maxLength, dice < 2 ? length : filled.length)))
  // A single character may be invisible.
  return cut.length < 3 ? 'abc'.slice(0, Math.max(cut.length, minLength)) : cut.join('')
}

/** JSON texts that are rarely valid. */
function hostile(schema: Schema, random: Random): string {
  const { maxLength = 300, maximum = 2 ** 53, minimum = 0, maxItems = 100 } = schema.anyOf?.[0] ?? schema
  const long = (letter: string, n: number) =>
    JSON.stringify(`${CANARY}${letter.repeat(Math.max(0, n - CANARY.length))}`)
  return random.pick<() => string>([
    () => random.pick(['null', 'true', 'false', '0', '-1', '5', '2.5', '-0', '[]', '{}', '""', '" "', '"5"']),
    () =>
      random.pick(['1e30', '-1e30', '1e400', '9007199254740993', '2147483648', '9223372036854775808', '1E-7', '0.1e1']),
    () => random.pick(['NaN', 'Infinity', 'undefined', "'x'", '01', '+1', '.5', '0x10', '1_000', '/**/1', '\u00a01']),
    () => random.pick([String(maximum + 1), String(minimum - 1), String(maximum), String(minimum)]),
    () => long('x', maxLength),
    () => long('x', maxLength + 1),
    () => long('𝒳', maxLength),
    () => long('x', 20_000),
    () =>
      `"${CANARY}${random.pick(['\\u0000', '\\ud800', '\\udfff\\ud800', '\\u202e', '\\ufeff', '\\uffff', '\\ud83d\\ude00'])}"`,
    () => `"${random.pick(['\\u200b\\u00a0\\u2060', '\\t\\n\\r', '\\u0000', '\\u0085', '\\u3164', '\\u034f'])}"`,
    () => `"${random.pick(['\t', '\n', '\0', '\x1b', '\\x', '\\u12', '\\'])}${CANARY}"`,
    () =>
      JSON.stringify(random.pick(["' or 1=1 --", '{{7*7}}', '<script>', '../../etc/passwd', '%00', '\\', '%', '_'])),
    () => `["${CANARY}"]`,
    () => `{"${CANARY}":"${CANARY}"}`,
    () =>
      `[${Array(maxItems + 1)
        .fill('"00000000-0000-4000-8000-000000000000"')
        .join()}]`,
    () => `[${random.pick(['null', '[]', '[[]]', '5', '{}', '""'])}]`,
    () => `{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}},"toString":1}`,
    () => DEEP,
    () =>
      random.pick([
        '"now"',
        '"2020-01-01"',
        '"2020-01-01T00:00:00Z"',
        '"infinity"',
        '"OWNER"',
        '"card_moved"',
        '"Member"',
      ]),
    () =>
      JSON.stringify(
        random.pick([
          '00000000-0000-0000-0000-000000000000',
          '{00000000-0000-4000-8000-000000000000}',
          '0'.repeat(32),
          'urn:uuid:00000000-0000-4000-8000-000000000000',
        ]),
      ),
  ])()
}

/** Spoils a body of JSON in one of many ways. */
export function spoilJson(schema: Schema, fields: Texts, random: Random): string {
  const names = Object.keys(schema.properties ?? {})
  const name = random.pick(names.length > 0 ? names : ['x'])
  const other = random.pick(names.length > 0 ? names : ['y'])
  const bad = () => hostile(schema.properties?.[name] ?? {}, random)
  const whole = jsonText(fields)
  const added = (more: string) => (whole === '{}' ? `{${more}}` : `${whole.slice(0, -1)},${more}}`)
  return random.pick<() => string>([
    // Half of them at a field: that is where most of the rules are.
    ...Array<() => string>(14).fill(() => jsonText({ ...fields, [name]: bad() })),
    () => jsonText({ ...fields, [name]: bad(), [other]: bad() }),
    () => jsonText(Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name))),
    () => added(`"${CANARY}":${bad()}`),
    () => added(`"${name}":${bad()}`),
    () => `{"${name}":${bad()},${whole.slice(1)}`,
    () => added(`"__proto__":{"${name}":"x","is_superuser":true}`),
    () => `{"__proto__":${whole}}`,
    () => added('"constructor":{"prototype":{"is_superuser":true}},"toString":1,"hasOwnProperty":1,"then":1'),
    () => added('"is_superuser":true,"board_id":"x","created_by":"x","rank":5,"role":"owner","hashed_password":"x"'),
    () => whole.slice(0, random.below(whole.length)),
    () => `${whole}${random.pick(['}', ' x', whole, '\0', ',', '\n\n'])}`,
    () => `\ufeff${whole}`,
    () => `[${whole}]`,
    () => random.pick(['null', '5', '""', '[]', '{', 'true', ' ', '{"x":1,}', "{'x':1}", '{x:1}', DEEP, '{"":""}']),
    () => `{"x":${DEEP},${whole.slice(1)}`,
    () => added(Array.from({ length: 2_000 }, (_, i) => `"k${i}":0`).join()),
  ])()
}

export const jsonText = (fields: Texts) =>
  `{${Object.entries(fields)
    .map(([key, value]) => `${JSON.stringify(key)}:${value}`)
    .join()}}`
export const textsOf = (fields: Record<string, unknown>): Texts =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, JSON.stringify(value)]))

/** A value as a form or a query writes it. */
export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value)
