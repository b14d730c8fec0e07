import { unpackSource, unpackVersion } from '@lockstep/testing/older-version'

/**
 * The last release. Upgrades and clients are tested between releases, never between commits: each release replaces this entry with
 * its own.
 */
export const previousVersion = { version: '0.1.0', commit: '10c4b73c989bb07b2b9f56d27542a89ce48ee63a' }

/** Checks out the last release, with its own dependencies. */
export const unpackPreviousVersion = () => unpackVersion(previousVersion.commit)

/** Checks out the source of the last release, for its client, which has no dependencies. */
export const unpackPreviousSource = () => unpackSource(previousVersion.commit)
