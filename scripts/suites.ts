import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'

interface Suite {
  /** Test files, as globs. */
  files: string[]
  /** A change of a path that begins with one of these selects the suite. */
  paths: string[]
}

/** Suites of real processes, browsers and tools. A submission runs those whose paths have changed; the full run has all. */
export const SUITES: Record<string, Suite> = {
  journeys: {
    files: ['tests/web/*'],
    paths: ['packages/web/', 'packages/client/', 'packages/contract/', 'tests/web/'],
  },
  cli: { files: ['packages/cli/src/*'], paths: ['packages/cli/', 'packages/client/', 'packages/contract/'] },
  library: {
    files: [
      'packages/client/src/{environments,guide,readme}',
      'packages/client/src/react/*',
      'tests/{examples,integrations,packages,realtime-console,types}',
    ],
    paths: ['packages/client/', 'examples/', 'docs/guide.md', 'docs/integrations.md'],
  },
  documents: {
    files: ['tests/{api-documents,documentation,documents}'],
    paths: ['docs/', 'packages/contract/', 'README.md', 'CONTRIBUTING.md'],
  },
  install: {
    files: ['tests/{demo,node-version,release,seed,supply-chain}'],
    paths: ['package.json', 'package-lock.json', 'scripts/', 'packages/demo/', '.no', '.npmrc'],
  },
  deploy: {
    files: ['tests/deploy/*', 'tests/observing'],
    paths: ['deploy/', 'Dockerfile', '.docker', 'compose.yaml', 'package-lock.json', 'packages/server/src/telemetry/'],
  },
  upgrade: {
    files: ['tests/upgrade'],
    paths: ['packages/server/migrations/', 'packages/server/src/database/migrations/', 'packages/contract/'],
  },
  stores: {
    files: [
      'tests/{pooler,recovery,rotation,store-tls}',
      'packages/server/src/{main,administration/*,database/database-clock}',
    ],
    paths: [
      'packages/server/src/database/',
      'packages/server/src/config/',
      'packages/server/src/administration/',
      'deploy/patroni/',
      'deploy/pgbouncer/',
      'tests/recovery/',
    ],
  },
  realtime: {
    files: [
      'tests/{client-live,fault-harness,full-board,hot-board,realtime-scale}',
      'packages/client/src/live/*-simulation',
    ],
    paths: [
      'packages/server/src/realtime/',
      'packages/server/src/core/',
      'packages/server/src/boards/',
      'packages/client/src/live/',
      'tests/fault-harness/',
    ],
  },
  load: {
    files: ['tests/{attachments-load,greedy,large,overload,soak}'],
    paths: [
      'packages/server/src/http/',
      'packages/server/src/security/',
      'packages/server/src/attachments/',
      'packages/server/src/platform/byte-budget',
      'packages/server/src/platform/semaphore',
      'packages/server/src/core/change-queue',
    ],
  },
  webhooks: { files: ['tests/webhooks'], paths: ['packages/server/src/webhooks/', 'tests/webhook-harness/'] },
}

/** The longest journeys: every screen and size, axe on each, and speed. Only at full size. */
export const LONG_JOURNEYS = ['tests/web/{axe,layout,speed}.test.ts']

/** Not part of `npm test`, but of every submission: generated matrices and suites that break stores. */
export const MATRICES = [
  'tests/{acceptance,access,attacks,bad-input,faults,fold,fuzz,known-weaknesses,plans,race-pairs}',
]

const find = (globs: readonly string[]) => globSync(globs.map((each) => `${each}.test.ts`)).sort()
export const filesOf = (suite: string): string[] => find(SUITES[suite]?.files ?? [])
export const allFiles = () => find(['packages/*/src/**/*', 'bench/*', 'tests/*', 'tests/{deploy,web}/*'])
export const matrixFiles = () => find(MATRICES)

/** The tests in process: all files that are in none of the suites above. */
export function fastFiles(): string[] {
  const others = new Set([...Object.keys(SUITES).flatMap(filesOf), ...matrixFiles()])
  return allFiles().filter((file) => !others.has(file))
}

/** Tests in process that cannot share a process, each with the reason. */
const ISOLATED: Record<string, string> = {
  'packages/web/src/shortcuts/shortcut-table': 'stubs globals of the browser',
  'packages/web/src/ui/i18n': 'loads modules again',
}

/** The tests in process that share processes: one runs many files, one after the other. */
export const sharedFiles = () => fastFiles().filter((file) => !(file.replace(/\.test\.ts$/, '') in ISOLATED))

/** Paths and files of the suites that nothing in the repository has, for example because it moved. */
export function missingPaths(suites = SUITES): string[] {
  const tracked = git('ls-files').split('\n')
  return Object.entries(suites).flatMap(([suite, { files, paths }]) =>
    [
      ...paths.filter((path) => !tracked.some((file) => file.startsWith(path))),
      ...files.flatMap(alternatives).filter((glob) => find([glob]).length === 0),
    ].map((path) => `${suite}: no file matches ${path}`),
  )
}

/** The globs that one with alternatives in braces stands for: if only one of them matches, the others are missing. */
const alternatives = (glob: string): string[] => {
  const [, before, list, after] = /^(.*?)\{(.*)\}(.*)$/.exec(glob) ?? []
  return list === undefined ? [glob] : list.split(',').map((each) => `${before}${each}${after}`)
}

/** The suites that these changed files select. */
export const suitesFor = (changed: readonly string[]): string[] =>
  Object.entries(SUITES)
    .filter(([suite, { paths }]) => {
      const own = new Set(filesOf(suite))
      return changed.some((file) => own.has(file) || paths.some((path) => file.startsWith(path)))
    })
    .map(([suite]) => suite)

const git = (...args: string[]) =>
  execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
const DAY_SECONDS = 86_400

/**
 * The files that changed: on a branch since it left main, on main since the newest commit that is a day older than the last one.
 * Undefined without that history, for example in a shallow clone. `since` overrides the commit.
 */
export function changedFiles(since = process.env['SINCE']): string[] | undefined {
  try {
    const base = git('rev-parse', since || git('merge-base', 'HEAD', 'main'))
    const start = base === git('rev-parse', 'HEAD') ? dayBefore(base) : base
    const committed = git('diff', '--name-only', '--no-renames', start, 'HEAD')
    const uncommitted = git('status', '--porcelain', '--no-renames').split('\n')
    return [...committed.split('\n'), ...uncommitted.map((line) => line.slice(3))].filter((file) => file !== '')
  } catch {
    return undefined
  }
}

function dayBefore(commit: string): string {
  const until = Number(git('show', '--no-patch', '--format=%ct', commit)) - DAY_SECONDS
  const found = git('rev-list', '--max-count=1', `--before=${until}`, commit)
  if (found === '') throw new Error('The history does not reach back a day')
  return found
}
