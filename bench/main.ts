import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { readConditions } from './conditions.ts'
import type { Findings, Progress } from './measure.ts'
import { type Kept, keep, readKept } from './report.ts'
import { FULL, SMOKE, VERSUS, VERSUS_SMOKE } from './size.ts'
import { type Stage, setStage } from './stage.ts'
import { compareWith } from './versus.ts'

/**
 * Measures the service against the bare engines beneath it: `npm run bench`, or `npm run bench -- writes login` for some of
 * it. What was measured is kept in bench/results and told in docs/performance.md. With `--smoke` everything is done once
 * and small, to see that it works, and kept in a folder that is told at the end, or in the one that `--out` names.
 * `npm run bench -- versus <commit>` compares the working tree with a commit, by CPU time per operation.
 */
const names = ['writes', 'hot-board', 'full-board', 'fan-out', 'commit-to-client', 'login', 'growth', 'peer']

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean', default: false }, out: { type: 'string' } },
})
const began = performance.now()
const progress: Progress = (line) =>
  console.log(`${((performance.now() - began) / 1_000).toFixed(0).padStart(5)} s  ${line}`)

if (positionals[0] === 'versus') {
  const [, commit] = positionals
  if (commit === undefined || positionals.length > 2) {
    console.error('npm run bench -- versus <commit>')
    process.exit(1)
  }
  const compared = await compareWith(commit, values.smoke ? VERSUS_SMOKE : VERSUS, progress)
  const counts = (['met', 'missed', 'noisy'] as const).map(
    (verdict) => `${compared.filter((each) => each.verdict === verdict).length} ${verdict}`,
  )
  console.log(counts.join(', '))
  process.exit(0)
}
const unknown = positionals.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(', ')}; there are ${names.join(', ')}`)
  process.exit(1)
}

const root = new URL('../', import.meta.url)
const elsewhere = values.out ?? (values.smoke ? await mkdtemp(join(tmpdir(), 'lockstep-bench-')) : undefined)
const target = elsewhere === undefined ? root : pathToFileURL(`${elsewhere}/`)

const size = values.smoke ? SMOKE : FULL
const wanted = positionals.length > 0 ? positionals : names
const conditions = await readConditions(size, values.smoke)
// What was measured before and is not measured again stays.
const kept = new Map((await readKept(target)).map((one) => [one.benchmark, one]))
let broken = 0
{
  await using stage = await setStage(size, progress)
  for (const name of wanted) {
    progress(name)
    const started = performance.now()
    try {
      const { run } = (await import(`./${name}.ts`)) as { run: (stage: Stage) => Promise<Findings> }
      const findings = await run(stage)
      const seconds = Math.round((performance.now() - started) / 1_000)
      kept.set(name, {
        benchmark: name,
        date: conditions.date,
        commit: conditions.commit,
        seconds,
        ...findings,
      } satisfies Kept)
      for (const { name: of, ours, bare, ratio, unit, goal, met } of findings.figures) {
        const against = bare === null ? '' : `, bare ${bare}: ${ratio}`
        progress(
          `  ${met === false ? '✗' : met ? '✓' : ' '} ${of}: ${ours} ${unit}${against}${goal ? ` (${goal})` : ''}`,
        )
      }
    } catch (error) {
      broken++
      progress(`  broken: ${(error as Error).stack}`)
    }
    // After each: what was measured is not lost when the next one fails.
    await keep(
      target,
      conditions,
      names.flatMap((each) => kept.get(each) ?? []),
    )
  }
}
const figures = [...kept.values()].flatMap((one) => one.figures)
const aimed = figures.filter(({ met }) => met !== null)
console.log(
  `${aimed.filter(({ met }) => met).length} of ${aimed.length} goals met; ${broken} of ${wanted.length} benchmarks broken`,
)
if (elsewhere !== undefined) console.log(`Kept in ${elsewhere}`)
process.exit(broken === 0 ? 0 : 1)
