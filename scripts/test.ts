import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { exitWithUsage, readArguments } from '../packages/server/src/platform/command-line.ts'
import { QUARANTINE } from './quarantine.ts'
import { scanOutput } from './secrets.ts'
import { allFiles, changedFiles, fastFiles, filesOf, matrixFiles, SUITES, suitesFor } from './suites.ts'

const OUTPUT = '.test-output'
const REPORT = `${OUTPUT}/report.json`

const { values, positionals: words } = readArguments({
  help: `npm test [word …]

Runs the tests in process, or the test files whose paths contain a word. Then all output is searched for secrets.

  --submission     everything that a change must pass: see CONTRIBUTING
  --suite <name>   one suite: matrices, ${Object.keys(SUITES).join(', ')}
  --bail           stops at the first test that fails
  --update         records the examples of the API documents again

Environment: SEED chooses the sample of the matrices, SINCE the commit since which a submission looks for changes, TEST_SIZE=full
runs everything at full size.`,
  options: {
    submission: { type: 'boolean' },
    suite: { type: 'string' },
    bail: { type: 'boolean' },
    update: { type: 'boolean' },
  },
  allowPositionals: true,
})
const env = {
  ...process.env,
  SEED: process.env['SEED'] ?? seedOfCommit(),
  // The service is started hundreds of times: cache the compiled code.
  NODE_COMPILE_CACHE: resolve('node_modules/.cache/compiled'),
}

process.exit(run(filesToRun()))

function filesToRun(): { files: string[]; tags?: string } {
  const { submission, suite } = values
  if (suite !== undefined) {
    if (suite === 'matrices') return { files: matrixFiles() }
    if (!(suite in SUITES))
      exitWithUsage(`Unknown suite: ${suite}. Suites: matrices, ${Object.keys(SUITES).join(', ')}.`)
    return { files: filesOf(suite) }
  }
  if (words.length > 0) return { files: allFiles().filter((file) => words.some((word) => file.includes(word))) }
  if (!submission) return { files: fastFiles() }
  const changed = changedFiles()
  const suites = changed ? suitesFor(changed) : Object.keys(SUITES)
  console.log(
    `${changed ? `${changed.length} changed files` : 'No history, so everything runs'}. Suites: ${suites.join(', ') || 'none'}`,
  )
  const files = [...fastFiles(), ...matrixFiles(), ...suites.flatMap(filesOf)]
  if (suites.includes('journeys')) return { files }
  // A few journeys always run.
  const smoke = filesOf('journeys').filter((file) => readFileSync(file, 'utf8').includes("tags: ['smoke']"))
  return { files: [...files, ...smoke], tags: '!journey || smoke' }
}

/** The same sample of the matrices for the same commit. */
function seedOfCommit(): string {
  try {
    const commit = execFileSync('git', ['rev-parse', '--short=7', 'HEAD'], { encoding: 'utf8' })
    return String(Number.parseInt(commit, 16))
  } catch {
    return '1'
  }
}

/** Runs test files, and returns the exit code. The last line has the counts. */
function run({ files, tags }: { files: string[]; tags?: string }): number {
  if (files.length === 0) exitWithUsage('No test file matches.')
  rmSync(OUTPUT, { recursive: true, force: true })
  mkdirSync(OUTPUT)
  console.log(`${files.length} files. SEED=${env.SEED} repeats the samples.`)
  const args = ['run', ...files, ...(tags ? ['--tags-filter', tags] : []), ...(values.update ? ['--update'] : [])]
  if (values.bail) args.push('--bail', '1')
  const { status } = spawnSync('vitest', args, { stdio: 'inherit', env })
  const report = existsSync(REPORT) ? (JSON.parse(readFileSync(REPORT, 'utf8')) as Report) : undefined
  const passed = report?.numPassedTests ?? 0
  const quarantined = report ? quarantinedFailures(report) : 0
  let failed = (report?.numFailedTests ?? 0) - quarantined
  // A file that failed to load, or an error outside a test, also counts as a failure.
  if (status !== 0 && failed === 0 && quarantined === 0) failed++
  const { lines, findings } = scanOutput(OUTPUT)
  console.log(`Searched ${lines} lines of logs and responses for secrets: ${findings.length} found`)
  for (const finding of findings.slice(0, 20)) console.log(`  ${finding}`)
  failed += Math.min(1, findings.length)
  const result = `${passed} passed, ${failed} failed`
  writeFileSync(`${OUTPUT}/result.txt`, `${result}\n`)
  console.log(result)
  return failed === 0 ? 0 : 1
}

interface Report {
  numPassedTests: number
  numFailedTests: number
  testResults: { assertionResults: { fullName: string; status: string }[] }[]
}

/** Prints the quarantined tests, and counts those that failed. One whose time is over is a failure again. */
function quarantinedFailures({ testResults }: Report): number {
  const today = new Date().toISOString().slice(0, 10)
  const current = QUARANTINE.filter(({ until }) => until >= today)
  for (const { test, reason, until } of QUARANTINE)
    console.log(`Quarantined until ${until}${until < today ? ' (over)' : ''}: ${test}: ${reason}`)
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'failed')
  return failed.filter(({ fullName }) => current.some(({ test }) => fullName.includes(test))).length
}
