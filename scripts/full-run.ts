import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { exitWithUsage, readArguments } from '../packages/server/src/platform/command-line.ts'
import { suites as proofs } from '../tests/prove/suites.ts'
import { readResults } from './proof-page.ts'
import { SUITES } from './suites.ts'

const STATE = 'docs/proof/full-run.json'
export const FULL_RUN_PAGE = 'docs/proof/full-run.md'

interface SuiteRun {
  /** Hash of the product's sources. */
  sources: string
  commit: string
  date: string
  seconds: number
  hasPassed: boolean
  /** The last line, or what failed. */
  result: string
}
type State = Record<string, SuiteRun>

/** Each suite of the full run with its command: everything that tests anything, at full size. */
const COMMANDS: Record<string, string[]> = {
  check: ['scripts/check.ts'],
  'in process': ['scripts/test.ts'],
  matrices: ['scripts/test.ts', '--suite', 'matrices'],
  ...Object.fromEntries(Object.keys(SUITES).map((suite) => [suite, ['scripts/test.ts', '--suite', suite]])),
  ...Object.fromEntries(Object.keys(proofs).map((proof) => [`prove ${proof}`, ['scripts/prove.ts', proof]])),
}

const PRODUCT = [
  ...['contract', 'server', 'client', 'web', 'cli'].map((name) => `packages/${name}`),
  'deploy',
  'Dockerfile',
  'compose.yaml',
]

/** Hash of everything that is installed or deployed, without tests and without the version, which a release changes. */
export function sourcesHash(folder = '.'): string {
  const read = (file: string) => readFileSync(`${folder}/${file}`, 'latin1')
  const { version } = JSON.parse(read('package.json')) as { version: string }
  const pattern = new RegExp(`(?<![\\d.])${version.replaceAll('.', '\\.')}(?![\\d.])`, 'g')
  const files = execFileSync('git', ['ls-files', '-z', ...PRODUCT], { cwd: folder, encoding: 'utf8' }).split('\0')
  const hash = createHash('sha256')
  for (const file of files.filter((each) => each !== '' && !/\.test\.tsx?$/.test(each)).sort())
    hash.update(`${file}\0`).update(read(file).replace(pattern, ''))
  // Packages from the registry, not those of this repository, which have the version of the release.
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, object> }
  const installed = Object.entries(packages).filter(([path]) => path.includes('node_modules/'))
  return hash.update(JSON.stringify(installed)).digest('hex').slice(0, 16)
}

const readState = (): State => (existsSync(STATE) ? JSON.parse(readFileSync(STATE, 'utf8')) : {})

/** What the full run lacks for these sources: suites that failed, or that did not run. */
export function missingSuites(sources: string, state = readState()): string[] {
  return Object.keys(COMMANDS).filter((suite) => !(state[suite]?.sources === sources && state[suite].hasPassed))
}

function main() {
  const { values } = readArguments({
    help: `npm run test:full

Runs all suites at full size, one after the other; that takes hours. Suites that passed for the same sources are not run again, so
an interrupted run continues. Results go to ${STATE} and ${FULL_RUN_PAGE}.

  --suite <name>   only this one, also if it has passed. Find the commit that broke it: git bisect run npm run test:full -- --suite fold
  --list           the suites, and which of them are missing

  Suites: ${Object.keys(COMMANDS).join(', ')}`,
    options: { suite: { type: 'string' }, list: { type: 'boolean' } },
  })
  const sources = sourcesHash()
  const missing = missingSuites(sources)
  if (values.list) {
    for (const suite of Object.keys(COMMANDS)) console.log(`${missing.includes(suite) ? '–' : '✓'} ${suite}`)
    return
  }
  if (values.suite !== undefined && !COMMANDS[values.suite])
    exitWithUsage(`Unknown suite: ${values.suite}. See --help.`)
  const failed = (values.suite === undefined ? missing : [values.suite]).filter((suite) => !runSuite(suite, sources))
  console.log(failed.length === 0 ? '✓ all suites passed' : `✗ failed: ${failed.join(', ')}`)
  process.exitCode = failed.length === 0 ? 0 : 1
}

function runSuite(suite: string, sources: string): boolean {
  const began = performance.now()
  console.log(`\n— ${suite}`)
  const env = { ...process.env, TEST_SIZE: 'full' }
  const { status } = spawnSync(process.execPath, COMMANDS[suite] ?? [], { stdio: 'inherit', env })
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  const state = {
    ...readState(),
    [suite]: {
      sources,
      commit,
      date: new Date().toISOString().slice(0, 10),
      seconds: Math.round((performance.now() - began) / 1_000),
      hasPassed: status === 0,
      result: resultOf(suite),
    },
  }
  writeFileSync(STATE, `${JSON.stringify(state, null, 2)}\n`)
  writeFileSync(FULL_RUN_PAGE, fullRunPage())
  return status === 0
}

function resultOf(suite: string): string {
  if (suite === 'check') return ''
  if (suite.startsWith('prove ')) return `${readResults()[suite.slice(6)]?.violations.length ?? 0} violations`
  return existsSync('.test-output/result.txt') ? readFileSync('.test-output/result.txt', 'utf8').trim() : ''
}

/** The page of the full run: a row for each suite, then the bounds on time that were missed. */
export function fullRunPage(): string {
  const state = readState()
  const rows = Object.keys(COMMANDS).map((suite) => {
    const run = state[suite]
    if (!run) return [suite, 'not run', '', '', '', '', '']
    const { hasPassed, result, commit, date, seconds, sources } = run
    return [
      suite,
      hasPassed ? 'passed' : '**failed**',
      result,
      `\`${commit}\``,
      date,
      `${(seconds / 60).toFixed(1)} min`,
      `\`${sources}\``,
    ]
  })
  const missed = Object.entries(readResults()).flatMap(([suite, { missedTimes = [], commit }]) =>
    missedTimes.map((sentence) => [suite, sentence, `\`${commit}\``]),
  )
  return `# The last full run

Every suite at full size, with the commit and the sources that it tested: \`npm run test:full\`. The same sources have the same hash, whatever
version number they have.

${table(['Suite', 'Result', '', 'Commit', 'Date', 'Duration', 'Sources'], rows)}

## Bounds on time that were missed

These are reported, not judged: the machines of these runs differ by a factor of two from hour to hour.

${missed.length === 0 ? 'None.' : table(['Suite', 'Figure', 'Commit'], missed)}
`
}

const table = (head: string[], rows: string[][]) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main()
