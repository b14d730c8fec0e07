import { readdirSync, readFileSync } from 'node:fs'

/** Every password and signing secret of the tests contains this word. */
const MARK = /hush-hush/
const TOKEN = /eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/
const ACCESS_TOKEN = /\bls[pb]_[0-9A-Za-z]{36}\b/
const HASH = /\$argon2|hashed_password"?\s*:|surviving_token/

/** Finds secrets in log lines, errors and responses. A finding names the line, without its content. */
export function findSecrets(name: string, text: string): string[] {
  return text
    .split('\n')
    .flatMap((line, i) => [
      ...(MARK.test(line) ? [`${name}:${i + 1} contains a password or the signing secret`] : []),
      ...(TOKEN.test(line) || ACCESS_TOKEN.test(line) ? [`${name}:${i + 1} contains a token`] : []),
      ...(HASH.test(line) ? [`${name}:${i + 1} contains a hash`] : []),
    ])
}

/** Scans all output of the service during a test run. */
export function scanOutput(folder: string): { files: number; lines: number; findings: string[] } {
  const files = readdirSync(folder).filter((file) => /\.(jsonl|txt)$/.test(file))
  const texts = files.map((file) => ({ file, text: readFileSync(`${folder}/${file}`, 'utf8') }))
  return {
    files: files.length,
    lines: texts.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0),
    findings: texts.flatMap(({ file, text }) => findSecrets(file, text)),
  }
}
