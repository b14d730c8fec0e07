import { readdirSync, readFileSync } from 'node:fs'

/** The word that stands in every password and signing secret of the tests. */
const MARK = /hush-hush/
const TOKEN = /eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/
const HASH = /\$argon2|hashed_password"?\s*:|surviving_token/

/** What no log line, error or answer may hold: each finding as a sentence that does not repeat it. */
export function findSecrets(name: string, text: string): string[] {
  return text
    .split('\n')
    .flatMap((line, i) => [
      ...(MARK.test(line) ? [`${name}:${i + 1} holds a password or the signing secret`] : []),
      ...(TOKEN.test(line) ? [`${name}:${i + 1} holds a token`] : []),
      ...(HASH.test(line) ? [`${name}:${i + 1} holds a hash`] : []),
    ])
}

/** Scans all that the service said during a test run. */
export function scanOutput(folder: string): { files: number; lines: number; findings: string[] } {
  const files = readdirSync(folder).filter((file) => /\.(jsonl|txt)$/.test(file))
  const texts = files.map((file) => ({ file, text: readFileSync(`${folder}/${file}`, 'utf8') }))
  return {
    files: files.length,
    lines: texts.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0),
    findings: texts.flatMap(({ file, text }) => findSecrets(file, text)),
  }
}
