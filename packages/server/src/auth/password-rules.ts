import { readFileSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import type { PasswordRules } from './passwords.ts'

const FILE = new URL('common-passwords.txt', import.meta.url)

/** The commonest passwords, in lower case. The file names their source. */
const readCommonPasswords = (): ReadonlySet<string> =>
  new Set(
    readFileSync(FILE, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#')),
  )

/** The rules for new passwords that the settings ask for. */
export const passwordRules = (config: Config): PasswordRules => ({
  min_length: config.PASSWORD_MIN_LENGTH,
  max_length: config.PASSWORD_MAX_LENGTH,
  requires: config.PASSWORD_REQUIRES,
  common: config.REFUSE_COMMON_PASSWORDS === 'on' ? readCommonPasswords() : undefined,
})
