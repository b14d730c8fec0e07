import { findingsOf, runAll, sectionsOf, setting, unusableOf } from './greedy.ts'
import { unpackVersion } from './older-version.ts'
import type { Progress, Report } from './report.ts'

/** The last version without any of the defences. `AT` names another. */
const BEFORE = process.env['AT'] ?? 'b03f0be'

/** The same scenarios against a version without their defences: each must fail, or it would show nothing. */
export async function prove(progress: Progress): Promise<Report> {
  using version = unpackVersion(BEFORE)
  const results = await runAll({ quotas: 'on', main: version.main }, progress)
  const rows = results.flatMap((result) => findingsOf(result).map((line) => [line]))
  return {
    title: `The same without the defences, at ${BEFORE}`,
    setting,
    sections: [
      { heading: 'How each failed', table: { columns: ['finding'], rows } },
      ...sectionsOf('not known yet', results),
    ],
    violations: results.flatMap((result) =>
      unusableOf(result).length > 0
        ? unusableOf(result)
        : findingsOf(result).length > 0
          ? []
          : [`${result.scenario.name} holds without its defence: the scenario shows nothing`],
    ),
  }
}
