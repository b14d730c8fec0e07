import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Progress } from '@lockstep/testing/load/measure'
import { exitWithUsage, readArguments } from '../packages/server/src/platform/command-line.ts'
import { readConditions } from './conditions.ts'
import { type Environment, startEnvironment } from './environment.ts'
import { measureFanOut } from './fan-out.ts'
import type { Figure } from './figure.ts'
import { measureFullBoard } from './full-board.ts'
import { pinProcesses } from './pinning.ts'
import { readResults, writeReport } from './report.ts'
import { FULL, SMOKE, VERSUS, VERSUS_SMOKE } from './size.ts'
import { compareWith } from './versus.ts'
import { measureWrites } from './writes.ts'

const benchmarks: Record<string, (environment: Environment) => Promise<Figure[]>> = {
  writes: measureWrites,
  'full-board': measureFullBoard,
  'fan-out': measureFanOut,
}
const names = Object.keys(benchmarks)

const { values, positionals } = readArguments({
  help: `npm run bench [-- benchmark …]
npm run bench -- versus <commit>

Compares the service with the bare engines below it, or the working tree with a commit, by CPU time per operation. Results go to
bench/results and docs/performance.md.

  ${names.join(', ')}   (default: all)
  --smoke          run everything once with little work, and write to a temporary folder
  --out <folder>   write to this folder
  --version        print the version
  --help           show this help`,
  allowPositionals: true,
  options: { smoke: { type: 'boolean', default: false }, out: { type: 'string' } },
})
const startedAt = performance.now()
const progress: Progress = (line) =>
  console.log(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(5)} s  ${line}`)

const pinned = pinProcesses()
progress(`pinned: ${pinned}`)
if (positionals[0] === 'versus') {
  const [, commit] = positionals
  if (commit === undefined || positionals.length > 2) exitWithUsage('Usage: npm run bench -- versus <commit>')
  const comparisons = await compareWith(commit, values.smoke ? VERSUS_SMOKE : VERSUS, progress)
  const counts = (['met', 'missed', 'noisy'] as const).map(
    (verdict) => `${comparisons.filter((each) => each.verdict === verdict).length} ${verdict}`,
  )
  console.log(counts.join(', '))
  process.exit(0)
}
const unknown = positionals.filter((name) => !names.includes(name))
if (unknown.length > 0) exitWithUsage(`Unknown benchmark: ${unknown.join(', ')}. Available: ${names.join(', ')}`)

const outFolder = values.out ?? (values.smoke ? await mkdtemp(join(tmpdir(), 'lockstep-bench-')) : undefined)
const target = outFolder === undefined ? new URL('../', import.meta.url) : pathToFileURL(`${outFolder}/`)

const size = values.smoke ? SMOKE : FULL
const selected = positionals.length > 0 ? positionals : names
const conditions = await readConditions(size, values.smoke, pinned)
// Keeps the earlier results of benchmarks that are not selected.
const results = new Map((await readResults(target)).map((result) => [result.benchmark, result]))
let failed = 0
{
  await using environment = await startEnvironment(size, progress)
  for (const name of selected) {
    progress(name)
    const { date, commit } = conditions
    const begunAt = performance.now()
    try {
      const figures = await (benchmarks[name] as (typeof benchmarks)[string])(environment)
      const seconds = Math.round((performance.now() - begunAt) / 1_000)
      results.set(name, { benchmark: name, date, commit, seconds, figures })
      for (const { operation, node_ms, postgres_ms, bare_ms, ratio, goal, result } of figures)
        progress(
          `  ${operation}: Node ${node_ms}, PostgreSQL ${postgres_ms}, bare ${bare_ms}, ratio ${ratio}, ${goal}: ${result}`,
        )
    } catch (error) {
      failed++
      progress(`  failed: ${(error as Error).stack}`)
    }
    // After each benchmark, so that a later failure loses nothing.
    await writeReport(
      target,
      conditions,
      names.flatMap((each) => results.get(each) ?? []),
    )
  }
}
const withGoal = [...results.values()].flatMap(({ figures }) => figures).filter(({ result }) => result !== null)
console.log(
  `${withGoal.filter(({ result }) => result === 'met').length} of ${withGoal.length} goals met; ${failed} of ${selected.length} benchmarks failed`,
)
if (outFolder !== undefined) console.log(`Results are in ${outFolder}`)
process.exit(failed === 0 ? 0 : 1)
