import { unpackVersion } from '@lockstep/testing/older-version'
import { findingsOf, runAll, unusableOf } from './greedy.ts'
import { equals, info, type Progress, type Report } from './report.ts'

/** The last version without any of the defenses. `AT` names another. */
const BEFORE = process.env['AT'] ?? 'b03f0be'

/** The same scenarios against a version without the defenses: each must fail, or it shows nothing. */
export async function prove(progress: Progress): Promise<Report> {
  using version = unpackVersion(BEFORE)
  const results = await runAll({ quotas: 'on', main: version.main }, progress)
  const holding = results.filter((result) => findingsOf(result).length === 0)
  return {
    figures: [
      info('scenarios', results.length),
      info('findings', results.flatMap(findingsOf).length),
      equals('scenarios that do not fail', holding.length, 0),
    ],
    violations: [
      // Where a process ended, the defect is seen, although its next bystander then fails as well.
      ...results.filter(({ observation }) => observation.ended.length === 0).flatMap(unusableOf),
      ...holding.map(({ scenario }) => `${scenario.name} does not fail at ${BEFORE}: it shows nothing`),
    ],
  }
}
