import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newChangelog } from '../scripts/changelog.ts'

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
  for (const args of [
    ['init', '--quiet'],
    ['add', '--all'],
    ['commit', '--quiet', '--message', 'x'],
  ])
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], { cwd: folder })
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

test.each([
  [[], 'Give a version, such as 1.2.3.'],
  [['1.2'], 'Give a version, such as 1.2.3.'],
  [['0.0.9'], '0.0.9 is not newer than the current version'],
  [['9.8.7'], 'Say where the repository is'],
  [['9.8.7', '--repository', 'git@example.com:x'], 'Say where the repository is'],
])('[REL-1] release %j changes nothing and says why', (args, sentence) => {
  const { status, stderr } = release(...args)
  expect({ status, isSaid: stderr.includes(sentence) }).toEqual({ status: 1, isSaid: true })
  expect(git('status', '--porcelain')).toBe('')
})

test('[REL-1] a release sets the version, writes the changelog and packs both packages', {
  timeout: TIMEOUT_MS,
}, () => {
  const { status, stdout, stderr } = release(
    '9.8.7',
    '--repository',
    'https://example.com/team/lockstep',
    '--out',
    'packed',
  )
  expect({ status, stderr }).toMatchObject({ status: 0 })
  expect(stdout).toContain('Version 9.8.7 is ready')
  expect(read('CHANGELOG.md')).toMatch(/## Unreleased\n\n## 9\.8\.7 \(\d{4}-\d\d-\d\d\)\n/)
  expect(JSON.parse(read('docs/api/openapi.json')).info.version).toBe('9.8.7')
  for (const name of readdirSync(join(folder, 'packages')))
    expect(JSON.parse(read(`packages/${name}/package.json`)).version).toBe('9.8.7')
  expect(JSON.parse(read('package-lock.json')).packages['packages/cli'].version).toBe('9.8.7')
  expect(read('compose.yaml')).toContain('lockstep:9.8.7')

  for (const name of ['client', 'cli']) {
    const packed = execFileSync('tar', [
      '-xzOf',
      join(folder, `packed/lockstep-${name}-9.8.7.tgz`),
      'package/package.json',
    ])
    expect(JSON.parse(packed.toString())).toMatchObject({
      version: '9.8.7',
      repository: { type: 'git', url: 'git+https://example.com/team/lockstep.git', directory: `packages/${name}` },
      homepage: 'https://example.com/team/lockstep#readme',
      bugs: 'https://example.com/team/lockstep/issues',
    })
  }
  expect(release('9.8.8').stderr).toContain('There are uncommitted changes')
})

test('[REL-1] a changelog without unreleased changes is rejected', () => {
  const text = '# Changelog\n\n## Unreleased\n\n- One\n\n## 0.1.0\n\n- Zero\n'
  const next = newChangelog(text, '0.2.0', '2026-12-01')
  expect(next).toBe('# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-12-01)\n\n- One\n\n## 0.1.0\n\n- Zero\n')
  expect(() => newChangelog(next, '0.3.0', '2026-12-02')).toThrow('no unreleased changes')
})
