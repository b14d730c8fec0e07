import { endProcesses } from '../../packages/server/testing/processes.ts'
import type { Result } from '../acceptance/run.ts'
import { judge, startJudged } from '../acceptance-suite.ts'
import type { Progress, Report, Section } from './report.ts'

/** The specification row by row, with the rows that wait for heartbeats, against a service started as a user would. */
export async function prove(progress: Progress): Promise<Report> {
  const service = await startJudged()
  try {
    progress('acceptance: every row, with those that wait for heartbeats')
    const { results, summary, seconds } = await judge(service.base_url, '--beside', service.beside_url)
    for (const line of summary) progress(`acceptance: ${line}`)
    return {
      title: 'The specification, row by row',
      setting: { rows: results.length, instances: 2, 'seconds it took': Math.round(seconds) },
      sections: [
        {
          heading: 'In all',
          text: 'By `npm run acceptance -- <base URL>`, a black box that speaks HTTP and WebSocket alone and can judge any implementation. “Not visible”: no black box could see it; each such row says why.',
          table: { columns: ['part', 'rows', 'passed', 'failed', 'not run', 'not visible'], rows: totals(results) },
        },
        section('What the specification says', results, 'specified'),
        section('What it leaves open, as decided here', results, 'decided'),
      ],
      violations: results
        .filter(({ outcome }) => outcome === 'failed')
        .map(({ id, sentence, reason }) => `${id}: ${sentence} ${reason}`),
    }
  } finally {
    await service.stop()
    await endProcesses()
  }
}

const standings: Result['standing'][] = ['specified', 'decided']
function totals(results: Result[]) {
  return standings.map((standing) => {
    const part = results.filter((result) => result.standing === standing)
    const count = (outcome: Result['outcome']) => part.filter((result) => result.outcome === outcome).length
    return [standing, part.length, count('passed'), count('failed'), count('not run'), count('not visible')]
  })
}

function section(heading: string, results: Result[], standing: Result['standing']): Section {
  const rows = results
    .filter((result) => result.standing === standing)
    .map(({ id, sentence, outcome, reason }) => [`\`${id}\``, sentence, reason ? `${outcome}: ${reason}` : outcome])
  return { heading, table: { columns: ['row', 'sentence', 'outcome'], rows } }
}
