import { readFileSync } from 'node:fs'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

/** The version of the service. */
export const { version: VERSION } = JSON.parse(read('../../package.json')) as { version: string }

/** The commit that the service was built from, in short form. Undefined if neither the image nor a checkout says it. */
export const REVISION = shorten(process.env['REVISION'] ?? readCheckout())

/** Version and commit, for people. */
export const BUILD = REVISION === undefined ? VERSION : `${VERSION} (commit ${REVISION})`

/** HEAD of a checkout. Only as a simple clone has it: a work tree and packed references are not followed. */
function readCheckout() {
  const git = (file: string) => read(`../../../../.git/${file}`).trim()
  try {
    const head = git('HEAD')
    return head.startsWith('ref: ') ? git(head.slice('ref: '.length)) : head
  } catch {
    return undefined
  }
}

/** Anything but a hash, such as the image's default `unknown`, is no commit. */
function shorten(revision = '') {
  return /^[\da-f]{7,64}$/.test(revision) ? revision.slice(0, 12) : undefined
}
