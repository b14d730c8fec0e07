import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { styleText } from 'node:util'
import { wrongUsage } from './failure.ts'

type Style = Parameters<typeof styleText>[0]

/** Colours text, only if the stream is a terminal and NO_COLOR (https://no-color.org) is not set. */
export function painter({ isTTY = false }: { isTTY?: boolean }, env = process.env) {
  const isPlain = !isTTY || Boolean(env['NO_COLOR']) || env['TERM'] === 'dumb'
  return (style: Style, words: string) => (isPlain ? words : styleText(style, words, { validateStream: false }))
}
export type Paint = ReturnType<typeof painter>

/**
 * Escapes untrusted text for the terminal. Whitespace becomes a space; control and bidirectional formatting
 * characters are shown as escapes.
 */
export const escapeControlChars = (words: string) =>
  words.replace(/\s+/g, ' ').replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
  })

const graphemes = new Intl.Segmenter()
const isWide = (grapheme: string) =>
  /\p{Emoji_Presentation}|\ufe0f|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]/u.test(
    grapheme,
  )

/** Width of a text in terminal columns. */
export const widthOf = (words: string) =>
  Array.from(graphemes.segment(words)).reduce((sum, { segment }) => sum + (isWide(segment) ? 2 : 1), 0)

/** Pads or truncates a text to an exact width. */
export function fit(words: string, width: number): string {
  const whole = widthOf(words)
  if (whole <= width) return words + ' '.repeat(width - whole)
  let fitted = ''
  let taken = 0
  for (const { segment } of graphemes.segment(words)) {
    const next = taken + (isWide(segment) ? 2 : 1)
    if (next > width - 1) break
    fitted += segment
    taken = next
  }
  return `${fitted}…${' '.repeat(width - 1 - taken)}`
}

/** Prompts on the terminal. */
export async function ask(question: string, defaultValue?: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question(defaultValue ? `${question} [${defaultValue}]: ` : `${question}: `)
    return answer.trim() || (defaultValue ?? '')
  } finally {
    terminal.close()
  }
}

/** Reads a secret from the terminal without echo, or the first line of stdin. */
export async function askSecret(name: 'Password' | 'Access token'): Promise<string> {
  const secret = process.stdin.isTTY ? await askHidden(name) : (await text(process.stdin)).split(/\r?\n/)[0]
  if (!secret) throw wrongUsage(`No ${name.toLowerCase()}: type it at the terminal, or pass it on stdin.`)
  return secret
}

async function askHidden(name: string): Promise<string> {
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: discard, terminal: true })
  process.stderr.write(`${name}: `)
  try {
    return await terminal.question('')
  } finally {
    terminal.close()
    process.stderr.write('\n')
  }
}

/** Draws a progress bar, only on a terminal. */
export function progressBar(total: number, { isTTY }: { isTTY?: boolean } = process.stderr) {
  return (done: number, what: string) => {
    if (!isTTY) return
    const bar = '█'.repeat((done / total) * 30).padEnd(30, '░')
    process.stderr.write(
      `\r${bar} ${done} of ${total} ${fit(escapeControlChars(what), 32)}\x1b[K${done === total ? '\n' : ''}`,
    )
  }
}

/** Formats a duration approximately. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`
}
