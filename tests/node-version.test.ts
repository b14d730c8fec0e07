import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const PINNED = readFileSync('.node-version', 'utf8').trim()
const PLATFORM = `node-${process.platform}-${process.arch}`
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  engines: { node: string }
  scripts: Record<string, string>
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockstep-node-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const install = (
  args: string[] = [],
  { script = 'scripts/install-node.mjs', cache }: { script?: string; cache?: string } = {},
) =>
  spawnSync(process.execPath, [script, ...args], {
    encoding: 'utf8',
    env: { ...process.env, npm_config_prefer_offline: 'true', ...(cache && { XDG_CACHE_HOME: cache }) },
  })

test('[NODE-1] the pinned version is the one that CI and the image use, and the engines allow it', () => {
  expect(readFileSync('.ci/run', 'utf8')).toContain('node_path=$(node scripts/install-node.mjs)')
  const images = [...readFileSync('Dockerfile', 'utf8').matchAll(/^FROM \S*node:([\d.]+)/gm)].map(
    ([, version]) => version,
  )
  for (const version of images) expect(version).toBe(PINNED)
  expect(manifest.engines.node).toBe('>=24.11')
})

/** The oldest version that is tested, which cannot run TypeScript. */
const older = install(['20.20.2'])
const isAvailable = older.status === 0
if (!isAvailable) console.log(`Node.js 20 is not available: ${older.stderr}`)

test.skipIf(!isAvailable)(
  '[NODE-2] under an older Node.js every npm script says so in one sentence',
  { timeout: 120_000 },
  () => {
    const env = { ...process.env, PATH: `${older.stdout.trim()}:${process.env['PATH']}` }
    const scripts = Object.keys(manifest.scripts)
    expect(scripts.length).toBeGreaterThan(10)
    for (const name of scripts) {
      const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', name], { env, encoding: 'utf8' })
      expect({ name, status, stdout, lines: stderr.trim().split('\n').length }).toEqual({
        name,
        status: 1,
        stdout: '',
        lines: 1,
      })
      expect(stderr).toContain('Lockstep needs Node.js 24.11 or newer, and this is 20.20.2')
    }
  },
)

test.skipIf(!isAvailable)('[CLI-29] under an older Node.js the command of a checkout says so in one sentence', () => {
  const { bin } = JSON.parse(readFileSync('packages/cli/package.json', 'utf8')) as { bin: { lockstep: string } }
  const program = join('packages/cli', bin.lockstep)
  const run = (node: string) => spawnSync(node, [program, '--version'], { encoding: 'utf8' })
  expect(run(join(older.stdout.trim(), 'node'))).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^Lockstep needs Node\.js 24\.11 or newer, and this is 20\.20\.2: .*\n$/),
  })
  expect(run(process.execPath)).toMatchObject({ status: 0, stderr: '' })
})

test.skipIf(!isAvailable)('[NODE-3] a version is downloaded once, checked, and kept outside the repository', () => {
  const bin = older.stdout.trim()
  expect(bin.startsWith(process.cwd())).toBe(false)
  expect(execFileSync(join(bin, 'node'), ['--version'], { encoding: 'utf8' })).toBe('v20.20.2\n')
})

test('[NODE-3] a download with another hash is rejected, and leaves nothing behind', { timeout: 120_000 }, () => {
  const scripts = join(folder, 'scripts')
  mkdirSync(scripts)
  cpSync('scripts/install-node.mjs', join(scripts, 'install-node.mjs'))
  writeFileSync(join(folder, '.node-version'), '20.20.2\n')
  writeFileSync(join(scripts, 'node-hashes.json'), JSON.stringify({ [`${PLATFORM}@20.20.2`]: 'sha512-wrong' }))
  const cache = join(folder, 'cache')
  const { status, stdout, stderr } = install([], { script: join(scripts, 'install-node.mjs'), cache })
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  // Without a network npm fails first.
  expect(stderr).toMatch(/not sha512-wrong: it is not what was reviewed|npm could not download/)
  expect(readdirSync(join(cache, 'lockstep'))).toEqual([])
})

test('[NODE-3] a version without a hash is not downloaded', () => {
  const { status, stderr } = install(['19.0.0'])
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: `scripts/node-hashes.json has no ${PLATFORM}@19.0.0: install Node.js 19.0.0 yourself.\n`,
  })
})

test('[NODE-4] a missing libatomic is named, with the package to install', () => {
  const cache = join(folder, 'minimal')
  const bin = join(cache, 'lockstep', `${PLATFORM}-${PINNED}`, 'bin')
  mkdirSync(bin, { recursive: true })
  const complaint =
    'error while loading shared libraries: libatomic.so.1: cannot open shared object file: No such file or directory'
  writeFileSync(join(bin, 'node'), `#!/bin/sh\necho "node: ${complaint}" >&2\nexit 127\n`)
  chmodSync(join(bin, 'node'), 0o755)
  const { status, stdout, stderr } = install([], { cache })
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toMatch(/^Node\.js \S+ needs the library libatomic\.so\.1, .*libatomic1.*Node\.js 24.*\n$/)
  expect(existsSync(join(bin, 'node'))).toBe(true)
})
