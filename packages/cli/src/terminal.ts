import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { styleText } from 'node:util'
import { wrongUsage } from './failure.ts'

type Style = Parameters<typeof styleText>[0]

/** Paints for a stream: only where somebody looks at a terminal, and never for who set NO_COLOR (https://no-color.org). */
export function painter({ isTTY = false }: { isTTY?: boolean }, env = process.env) {
  const isPlain = !isTTY || Boolean(env['NO_COLOR']) || env['TERM'] === 'dumb'
  return (style: Style, words: string) => (isPlain ? words : styleText(style, words, { validateStream: false }))
}
export type Paint = ReturnType<typeof painter>

/**
 * Text of other people as it can be shown: a title may hold any character, and a terminal obeys some of them. Line breaks
 * become spaces; other control characters, and those that turn the direction of what follows, are shown as what they are.
 */
export const harmless = (words: string) =>
  words.replace(/\s+/g, ' ').replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
  })

const graphemes = new Intl.Segmenter()
const isWide = (grapheme: string) =>
  /\p{Emoji_Presentation}|\ufe0f|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]/u.test(
    grapheme,
  )

/** How many columns of a terminal a text takes. */
export const widthOf = (words: string) =>
  Array.from(graphemes.segment(words)).reduce((sum, { segment }) => sum + (isWide(segment) ? 2 : 1), 0)

/** The text, in exactly so many columns: cut with an ellipsis, or filled with spaces. */
export function fit(words: string, width: number): string {
  const whole = widthOf(words)
  if (whole <= width) return words + ' '.repeat(width - whole)
  let kept = ''
  let taken = 0
  for (const { segment } of graphemes.segment(words)) {
    const next = taken + (isWide(segment) ? 2 : 1)
    if (next > width - 1) break
    kept += segment
    taken = next
  }
  return `${kept}…${' '.repeat(width - 1 - taken)}`
}

/** Asks on the terminal. */
export async function ask(question: string, usual?: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question(usual ? `${question} [${usual}]: ` : `${question}: `)
    return answer.trim() || (usual ?? '')
  } finally {
    terminal.close()
  }
}

/** From the terminal, where it is not shown, or the first line of whatever standard input holds. */
export async function askPassword(): Promise<string> {
  const password = process.stdin.isTTY ? await askUnseen() : (await text(process.stdin)).split(/\r?\n/)[0]
  if (!password) throw wrongUsage('No password was given: type it at the terminal, or send it to standard input.')
  return password
}

async function askUnseen(): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  process.stderr.write('Password: ')
  try {
    return await terminal.question('')
  } finally {
    terminal.close()
    process.stderr.write('\n')
  }
}

/** Shows how far something has come, on a terminal. In a file or a pipe it would only be in the way. */
export function progressBar(total: number, { isTTY }: { isTTY?: boolean } = process.stderr) {
  return (done: number, what: string) => {
    if (!isTTY) return
    const bar = '█'.repeat((done / total) * 30).padEnd(30, '░')
    process.stderr.write(`\r${bar} ${done} of ${total} ${fit(harmless(what), 32)}\x1b[K${done === total ? '\n' : ''}`)
  }
}

/** A length of time, roughly. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`
}
