import { readFileSync } from 'node:fs'
import type { Config } from '../config/read-config.ts'
import type { PasswordRules } from './passwords.ts'

const FILE = new URL('common-passwords.txt', import.meta.url)

/** The most common passwords, in lower case. The file names its source. */
const readCommonPasswords = (): ReadonlySet<string> =>
  new Set(
    readFileSync(FILE, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#')),
  )

/** The configured rules for new passwords. */
export const passwordRules = ({ rejectsCommon, ...rules }: Config['passwords']): PasswordRules => ({
  ...rules,
  common: rejectsCommon ? readCommonPasswords() : undefined,
})
