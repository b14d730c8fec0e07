import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string): Record<string, unknown> => JSON.parse(readFileSync(`${root}${file}`, 'utf8'))

/** The options of a build: `--check` lints the result, `--out` replaces the folder `dist` of the package. */
export function buildOptions(folder: string) {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false }, out: { type: 'string' } } })
  return { isChecked: values.check, dist: values.out === undefined ? `${root}${folder}/dist` : resolve(values.out) }
}

/**
 * Writes package.json and LICENSE of a published package. The fields that only the workspace needs are left out. The
 * addresses of the project follow from `repository` of the root package.json, which the first release sets.
 */
export function writeManifest(folder: string, dist: string, own: Record<string, unknown>) {
  const { private: _, scripts: __, devDependencies: ___, ...manifest } = read(`${folder}/package.json`)
  const published = { ...manifest, ...addresses(read('package.json')['repository'], folder), ...own }
  writeFileSync(`${dist}/package.json`, `${JSON.stringify(published, null, 2)}\n`)
  copyFileSync(`${root}LICENSE`, `${dist}/LICENSE`)
}

function addresses(repository: unknown, directory: string) {
  if (typeof repository !== 'string') return {}
  const homepage = repository.replace(/^git\+/, '').replace(/\.git$/, '')
  return {
    repository: { type: 'git', url: `git+${homepage}.git`, directory },
    homepage: `${homepage}#readme`,
    bugs: `${homepage}/issues`,
  }
}

/** Runs a program in the root of the repository. Ends this process with its output if it fails. */
export function run(command: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) fail(`${command} ${args.join(' ')}\n${stdout}${stderr}`)
}
export function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
