import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { newChangelog } from './changelog.ts'
import { missingSuites, sourcesHash } from './full-run.ts'

const HELP = `npm run release -- <version> [options]

Prepares a release: sets the version everywhere, moves the unreleased changes of the changelog below a heading, generates the
documents, and builds and packs the two packages. Commit, tag and publish the result.

  --repository <url>   HTTPS address of the repository, for the packages; kept in package.json. Without it they name none.
  --out <folder>       folder for the packages (default: release)
  --help               show this help`

/** Files that contain the version, besides the package.json files and the lock file. */
const VERSIONED = [
  'packages/contract/src/openapi.ts',
  'packages/contract/src/asyncapi.ts',
  'packages/cli/README.md',
  'packages/cli/src/doctor.test.ts',
  'deploy/kubernetes/example/kustomization.yaml',
  'deploy/prometheus/alerts.test.yml',
  'compose.yaml',
  'Dockerfile',
  'README.md',
  'docs/deploying.md',
  'docs/running.md',
  'tests/previous-version.ts',
  'examples/bot/package.json',
  'examples/react-board/package.json',
  'examples/webhook-receiver/package.json',
]
const PACKAGES = ['client', 'cli']

const read = (file: string) => readFileSync(file, 'utf8')
const readJson = (file: string) => JSON.parse(read(file))
const writeJson = (file: string, value: unknown) => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

try {
  release()
} catch (error) {
  console.error((error as Error).message)
  process.exit(1)
}

function release() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { repository: { type: 'string' }, out: { type: 'string', default: 'release' }, help: { type: 'boolean' } },
  })
  if (values.help) return console.log(HELP)
  const [version = ''] = positionals
  const { version: current, repository: known } = readJson('package.json')
  const repository: string | undefined = values.repository ?? known
  checkVersion(version, current)
  if (repository !== undefined && !(URL.canParse(repository) && repository.startsWith('https://')))
    throw new Error('The address of the repository must begin with https://.')
  if (run('git', 'status', '--porcelain') !== '') throw new Error('There are uncommitted changes: commit them first.')
  const missing = missingSuites(sourcesHash())
  if (missing.length > 0)
    throw new Error(
      `These suites have not passed for these sources: ${missing.join(', ')}. Run npm run test:full first.`,
    )
  // First, because it fails if there is nothing to release.
  writeFileSync('CHANGELOG.md', newChangelog(read('CHANGELOG.md'), version, new Date().toISOString().slice(0, 10)))

  setVersions(current, version, repository)
  run('node', 'scripts/generate.ts')
  mkdirSync(values.out, { recursive: true })
  for (const name of PACKAGES) {
    run('node', `scripts/build-${name}.ts`, '--check')
    run('npm', 'pack', `./packages/${name}/dist`, '--pack-destination', values.out)
  }
  console.log(`Version ${version} is ready; the packages are in ${values.out}. Next:

  git commit --all --message "chore: release ${version}" && git tag v${version}
  npm publish ${repository === undefined ? '' : '--provenance '}--access public <package>, for each package in ${values.out}
  docker build --build-arg REVISION=$(git rev-parse HEAD) --tag lockstep:${version} .

Then empty \`laterFields\` in tests/previous-version.ts.`)
}

function checkVersion(version: string, current: string) {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`Give a version, such as 1.2.3.\n\n${HELP}`)
  if (version.localeCompare(current, 'en', { numeric: true }) <= 0)
    throw new Error(`${version} is not newer than the current version, ${current}.`)
}

function setVersions(current: string, version: string, repository: string | undefined) {
  for (const file of ['package.json', ...globSync('packages/*/package.json')])
    writeJson(file, { ...readJson(file), version, ...(file === 'package.json' && { repository }) })
  const lock = readJson('package-lock.json')
  lock.version = version
  // Workspaces have no `resolved` and no hash.
  for (const [path, entry] of Object.entries<{ version?: string }>(lock.packages))
    if (!path.includes('node_modules/') && entry.version === current) entry.version = version
  writeJson('package-lock.json', lock)
  for (const file of VERSIONED) {
    const text = read(file)
    if (!text.includes(current))
      throw new Error(`${file} does not contain the version ${current}: adapt scripts/release.ts.`)
    writeFileSync(file, text.replaceAll(current, version))
  }
}
