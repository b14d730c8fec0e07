import { execFileSync } from 'node:child_process'
import { unpackSource, unpackVersion } from '@lockstep/testing/older-version'

/** The last release, which `npm run release` writes here. Upgrades and clients are tested between releases, never between commits. */
export const previousVersion = '0.2.0'

/** Its commit, by its subject. */
function releaseCommit(): string {
  const subject = `chore: release ${previousVersion}`
  const found = execFileSync('git', ['log', '--format=%H', '--max-count=1', `--grep=^${subject}$`], {
    encoding: 'utf8',
  })
  if (found === '') throw new Error(`This clone has no commit “${subject}”: fetch its whole history.`)
  return found.trim()
}

/** The fields of cards and boards that the last release does not have, with their values in what it writes. A release empties this. */
export const laterFields: { card: object; board: object } = { card: {}, board: {} }

/** Removes these fields from a board. */
export const withoutLaterFields = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, part: unknown) =>
      name in laterFields.card || name in laterFields.board ? undefined : part,
    ),
  )

/** Checks out the last release, with its own dependencies. */
export const unpackPreviousVersion = () => unpackVersion(releaseCommit())

/** Checks out the source of the last release, for its client, which has no dependencies. */
export const unpackPreviousSource = () => unpackSource(releaseCommit())
