import type { Random } from '@lockstep/testing/random'
import { asText, CANARY } from './values.ts'

export interface Form {
  type: string
  content: Buffer
  /** Whether it is broken on purpose. */
  isBroken: boolean
}

/** A URL-encoded form, valid or broken. */
export function urlencoded(fields: Record<string, unknown>, isBroken: boolean, random: Random): Form {
  const plain = new URLSearchParams(Object.entries(fields).map(([key, value]) => [key, asText(value)])).toString()
  const name = random.pick(Object.keys(fields).length > 0 ? Object.keys(fields) : ['x'])
  const spoilt = () =>
    random.pick([
      `${plain}&${name}=${CANARY}`,
      plain.replace(`${name}=`, `${name}[$ne]=`),
      plain.replace(`${name}=`, `${name}%00=`),
      `${plain}&${name}=%ff%fe`,
      `${plain}&${name}=%zz%`,
      plain.slice(0, random.below(plain.length + 1)),
      plain.replaceAll('=', ''),
      '&&&===&',
      `${plain}&__proto__=${CANARY}&constructor=1&toString=1`,
      `${plain}${'&k=0'.repeat(5_000)}`,
      `${name}=${'x'.repeat(random.pick([255, 256, 5_000, 100_000]))}`,
      `${plain}&${name}=\0`,
      JSON.stringify(fields),
      '',
    ])
  const content = Buffer.from(isBroken ? spoilt() : plain)
  return { type: 'application/x-www-form-urlencoded', content, isBroken: isBroken }
}

const B = 'fuzz-boundary-93f1'
const part = (head: string, content: Buffer | string) =>
  Buffer.concat([Buffer.from(`--${B}\r\n${head}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n')])
const field = (name: string, value: string) => part(`Content-Disposition: form-data; name="${name}"`, value)
const END = Buffer.from(`--${B}--\r\n`)
const own = `multipart/form-data; boundary=${B}`

/** Parses such a form. A part with a file name is the file. Throws if the form has no end. */
export function fieldsOfMultipart(bytes: Buffer): Record<string, string | string[]> {
  const [, ...parts] = `\r\n${bytes.toString('latin1')}`.split(`\r\n--${B}`)
  const end = parts.findIndex((each) => each.startsWith('--'))
  if (end === -1) throw new Error('The form does not end')
  const fields: Record<string, string | string[]> = Object.create(null)
  for (const each of parts.slice(0, end)) {
    const [head = '', ...content] = each.split('\r\n\r\n')
    const name = head.includes('filename') ? 'file' : (/\bname="?([^"]*)/.exec(head)?.[1] ?? '')
    const value = content.join('\r\n\r\n')
    // A repeated field is a list, which no schema accepts as text.
    fields[name] = name in fields ? [fields[name] as string, value].flat() : value
  }
  return fields
}

/** A multipart form with a file, valid or broken. */
export function multipart(fields: Record<string, unknown>, isBroken: boolean, random: Random): Form {
  const size = random.pick([0, 1, 5, 100, 3_000, 66_000])
  const content = Buffer.alloc(size, random.pick(['x', '\r\n', `\r\n--${B}`.slice(0, -1), '\0', '👾']))
  const named = (name: string, more = 'Content-Type: text/plain') =>
    part(`Content-Disposition: form-data; name="file"; filename="${name}"\r\n${more}`, content)
  const names = [
    'note.txt',
    'a'.repeat(255),
    'ü👾.png',
    'x.html',
    '..\\..\\x',
    '%2e%2e%2f',
    'a;b',
    'CON',
    '\u202egpj.exe',
  ]
  const file = named(random.pick(names))
  const others = Object.entries(fields)
    .filter(([key, value]) => key !== 'file' && typeof value === 'string')
    .map(([key, value]) => field(key, String(value)))
  const plain = Buffer.concat([...others, file, END])
  if (!isBroken) return { type: own, content: plain, isBroken: false }
  const at = random.below(plain.length)
  const spoilt = random.pick<() => [Buffer, string?]>([
    () => [Buffer.concat([...others, END])],
    () => [Buffer.concat([file, file, END])],
    () => [Buffer.concat([...others, file])],
    () => [END],
    () => [Buffer.alloc(0)],
    () => [plain.subarray(0, at)],
    () => [plain.subarray(at)],
    () => [
      Buffer.concat([
        plain.subarray(0, at),
        Buffer.from(random.pick(['\r\n', '--', '\0', `--${B}`, '\r\n\r\n'])),
        plain.subarray(at),
      ]),
    ],
    () => [plain, 'multipart/form-data'],
    () => [plain, 'multipart/form-data; boundary='],
    () => [plain, `multipart/form-data; boundary="${B}`],
    () => [plain, `multipart/form-data; boundary=${'b'.repeat(300)}`],
    () => [plain, `multipart/form-data; boundary=other; boundary=${B}`],
    () => [plain, `multipart/mixed; boundary=${B}`],
    () => [plain, 'application/json'],
    () => [plain, 'application/octet-stream'],
    () => [Buffer.concat([named('x'.repeat(20_000)), END])],
    () => [Buffer.concat([named(''), END])],
    () => [Buffer.concat([named('a\0b'), END])],
    () => [Buffer.concat([named('\xff\xfe'), END])],
    () => [
      Buffer.concat([
        named(
          'x',
          `Content-Type: ${random.pick(['', '/', 'a'.repeat(500), 'text/html; charset=utf-16', '\x01', 'ü/ü'])}`,
        ),
        END,
      ]),
    ],
    () => [Buffer.concat([named('x', 'Content-Transfer-Encoding: base64'), END])],
    () => [Buffer.concat([named('x', 'X: y\r\n'.repeat(2_000).trim()), END])],
    () => [
      Buffer.concat([part("Content-Disposition: form-data; name=file; filename*=UTF-8''%ff%00%zz", content), END]),
    ],
    () => [Buffer.concat([part('Content-Disposition: attachment', content), END])],
    () => [Buffer.concat([part('X: y', content), END])],
    () => [Buffer.concat([field('id', random.pick(['', 'x', CANARY, '\0', 'x'.repeat(70_000)])), file, END])],
    () => [Buffer.concat([...Array.from({ length: 300 }, (_, i) => field(`k${i}`, 'v')), file, END])],
    () => [Buffer.concat([field('__proto__', 'x'), field('constructor', 'x'), file, END])],
    () => [Buffer.concat([Buffer.alloc(70_000, 'preamble '), plain])],
    () => [Buffer.concat([plain, Buffer.alloc(70_000, 'epilogue ')])],
  ])()
  return { type: spoilt[1] ?? own, content: spoilt[0], isBroken: true }
}
