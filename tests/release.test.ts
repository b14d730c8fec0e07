import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newChangelog } from '../scripts/changelog.ts'
import { missingSuites, sourcesHash } from '../scripts/full-run.ts'

const TIMEOUT_MS = 300_000
let folder: string
/** A copy of the repository in which a release can be tried. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockstep-release-'))
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  for (const file of files.trim().split('\n')) cpSync(file, join(folder, file), { recursive: true })
  // The installed packages, with the workspaces of the copy.
  mkdirSync(join(folder, 'node_modules/@lockstep'), { recursive: true })
  for (const name of readdirSync('node_modules').filter((each) => each !== '@lockstep'))
    symlinkSync(join(process.cwd(), 'node_modules', name), join(folder, 'node_modules', name))
  for (const name of readdirSync('node_modules/@lockstep'))
    symlinkSync(join(folder, 'packages', name), join(folder, 'node_modules/@lockstep', name))
  git('init', '--quiet')
  commit()
}, TIMEOUT_MS)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const release = (...args: string[]) => {
  const env = {
    ...process.env,
    PATH: `${join(folder, 'node_modules/.bin')}:${dirname(process.execPath)}:${process.env['PATH']}`,
  }
  return spawnSync(process.execPath, ['scripts/release.ts', ...args], { cwd: folder, env, encoding: 'utf8' })
}
const read = (file: string) => readFileSync(join(folder, file), 'utf8')
const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' })
const commit = () => {
  git('add', '--all')
  git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '--quiet', '--message', 'x')
}

/** Records a full run for the sources of the copy, without which nothing is released. */
const recordFullRun = () => {
  const sources = sourcesHash(folder)
  const state = missingSuites(sources, {}).map((suite) => [suite, { sources, hasPassed: true }])
  writeFileSync(join(folder, 'docs/proof/full-run.json'), JSON.stringify(Object.fromEntries(state)))
  commit()
}

/** Adds a change to the changelog, without which there is nothing to release. */
const noteChange = () => {
  const text = read('CHANGELOG.md').replace('## Unreleased\n', '## Unreleased\n\n- More\n')
  writeFileSync(join(folder, 'CHANGELOG.md'), text)
  commit()
}

test.each([
  [[], 'Give a version, such as 1.2.3.'],
  [['1.2'], 'Give a version, such as 1.2.3.'],
  [['0.0.9'], '0.0.9 is not newer than the current version'],
  [['9.8.7', '--repository', 'git@example.com:x'], 'The address of the repository must begin with https://.'],
])('[REL-1] release %j changes nothing and says why', (args, sentence) => {
  const { status, stderr } = release(...args)
  expect({ status, isSaid: stderr.includes(sentence) }).toEqual({ status: 1, isSaid: true })
  expect(git('status', '--porcelain')).toBe('')
})

/** The package.json of a packed package. */
const packed = (name: string, version: string) => {
  const file = join(folder, `packed/lockstep-${name}-${version}.tgz`)
  return JSON.parse(execFileSync('tar', ['-xzOf', file, 'package/package.json'], { encoding: 'utf8' }))
}

/** Files that name earlier versions, and versions of others. */
const HISTORY = [
  'CHANGELOG.md',
  'docs/decisions',
  'docs/proof',
  'docs/rules.md',
  'docs/upgrading.md',
  'package-lock.json',
  'packages/server/migrations',
  'packages/server/src/database/migrations',
  'tests/release.test.ts',
].map((path) => `:!${path}`)

test('[REL-1] [REL-2] [REL-3] a release sets the version everywhere, writes the changelog and packs both packages', {
  timeout: TIMEOUT_MS,
}, () => {
  const current = JSON.parse(read('package.json')).version
  noteChange()
  expect(release('9.8.7').stderr).toContain('Run npm run test:full first')
  recordFullRun()
  const { status, stdout, stderr } = release('9.8.7', '--out', 'packed')
  expect({ status, stderr }).toMatchObject({ status: 0 })
  expect(stdout).toContain('Version 9.8.7 is ready')
  expect(read('CHANGELOG.md')).toMatch(/## Unreleased\n\n## 9\.8\.7 \(\d{4}-\d\d-\d\d\)\n/)
  expect(JSON.parse(read('docs/api/openapi.json')).info.version).toBe('9.8.7')
  for (const name of readdirSync(join(folder, 'packages')))
    expect(JSON.parse(read(`packages/${name}/package.json`)).version).toBe('9.8.7')
  expect(JSON.parse(read('package-lock.json')).packages['packages/cli'].version).toBe('9.8.7')
  expect(read('compose.yaml')).toContain('lockstep:9.8.7')

  expect(read('Dockerfile')).toContain('ARG VERSION=9.8.7')
  // Not as a part of an address, such as 192.0.2.0.
  const pattern = `(^|[^0-9.])${current.replaceAll('.', '\\.')}([^0-9.]|$)`
  const forgotten = spawnSync('git', ['grep', '-nE', pattern, '--', '.', ...HISTORY], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect(forgotten.stdout).toBe('')
  for (const name of ['client', 'cli']) {
    expect(packed(name, '9.8.7').version).toBe('9.8.7')
    for (const field of ['repository', 'homepage', 'bugs']) expect(packed(name, '9.8.7')).not.toHaveProperty(field)
  }
  expect(release('9.8.8').stderr).toContain('There are uncommitted changes')

  // The next release, with an address.
  noteChange()
  const next = release('9.8.8', '--repository', 'https://example.com/team/lockstep', '--out', 'packed')
  expect(next).toMatchObject({ status: 0 })
  for (const name of ['client', 'cli'])
    expect(packed(name, '9.8.8')).toMatchObject({
      version: '9.8.8',
      repository: { type: 'git', url: 'git+https://example.com/team/lockstep.git', directory: `packages/${name}` },
      homepage: 'https://example.com/team/lockstep#readme',
      bugs: 'https://example.com/team/lockstep/issues',
    })
  expect(JSON.parse(read('package.json')).repository).toBe('https://example.com/team/lockstep')
})

test('[REL-1] a changelog without unreleased changes is rejected', () => {
  const text = '# Changelog\n\n## Unreleased\n\n- One\n\n## 0.1.0\n\n- Zero\n'
  const next = newChangelog(text, '0.2.0', '2026-12-01')
  expect(next).toBe('# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-12-01)\n\n- One\n\n## 0.1.0\n\n- Zero\n')
  expect(() => newChangelog(next, '0.3.0', '2026-12-02')).toThrow('no unreleased changes')
})
