import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { exitWithUsage, readArguments } from '../packages/server/src/platform/command-line.ts'
import type { Progress, Report } from '../tests/prove/report.ts'
import { suites } from '../tests/prove/suites.ts'
import { commandOf, PAGE, proofPage, RESULTS, readResults, resultsText } from './proof-page.ts'

const { positionals: args } = readArguments({
  help: `npm run prove -- <suite> …

Runs suites that are too long for a test run. Their figures replace their entries in docs/proof/results.json, from which
docs/proof/README.md is generated. Exits with 1 on a violation.

  ${Object.keys(suites).join(', ')}
  all         all of them, one after the other
  --version   print the version
  --help      show this help`,
  allowPositionals: true,
})
const names = args.includes('all') ? Object.keys(suites) : args
const unknown = names.filter((name) => !suites[name])
const available = `Suites: ${Object.keys(suites).join(', ')}, all.`
if (names.length === 0) exitWithUsage(`Usage: npm run prove -- <suite>. ${available}`)
if (unknown.length > 0) exitWithUsage(`Unknown suite: ${unknown.join(', ')}. ${available}`)
process.exit(names.length === 1 ? await run(names[0] as string) : runEach(names))

/** Runs each suite in its own process, so that they do not share memory or timers. */
function runEach(several: string[]): number {
  const failed = several.filter(
    (name) => spawnSync(process.execPath, [import.meta.filename, name], { stdio: 'inherit' }).status !== 0,
  )
  console.log(failed.length === 0 ? '✓ no violations' : `✗ violations in ${failed.join(', ')}`)
  return failed.length === 0 ? 0 : 1
}

async function run(name: string): Promise<number> {
  const began = performance.now()
  const secondsSince = () => Math.round((performance.now() - began) / 1_000)
  const progress: Progress = (line) => console.log(`${String(secondsSince()).padStart(5)} s  ${line}`)
  // Before the run, because later changes are not part of it.
  const commit = git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', 'packages') ? ' with changes' : '')
  const module = new URL(`../tests/prove/${name}.ts`, import.meta.url)
  const { prove } = (await import(module.href)) as { prove: (progress: Progress) => Promise<Report> }
  const { figures, violations, missedTimes = [], picture } = await prove(progress)
  if (picture) writeFileSync(`docs/proof/${name}.svg`, picture.svg)
  const results = {
    ...readResults(),
    [name]: {
      command: commandOf(name),
      commit,
      date: new Date().toISOString().slice(0, 10),
      seconds: secondsSince(),
      machine: `${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node.js ${process.versions.node}`,
      violations,
      ...(missedTimes.length > 0 && { missedTimes }),
      ...(picture && { picture: picture.caption }),
      figures,
    },
  }
  writeFileSync(RESULTS, resultsText(results))
  writeFileSync(PAGE, proofPage(results))
  for (const violation of violations.slice(0, 50)) console.log(`✗ ${violation}`)
  console.log(violations.length === 0 ? `✓ ${name}: no violations` : `✗ ${name}: ${violations.length} violations`)
  return violations.length === 0 ? 0 : 1
}

function git(...args: string[]): string {
  try {
    return execFileSync('git', args, { encoding: 'utf8' }).trim()
  } catch {
    return ''
  }
}
