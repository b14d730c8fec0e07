import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Checks out the source at a commit into its own folder, without dependencies. */
export function unpackSource(commit: string, more: string[] = []): { folder: string; [Symbol.dispose]: () => void } {
  demandCommit(commit)
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-version-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  // Removes the folder however the run ends.
  process.once('exit', remove)
  const archive = execFileSync('git', ['archive', commit, 'packages', 'package.json', 'package-lock.json', ...more], {
    cwd: ROOT,
    maxBuffer: 2 ** 30,
  })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  return { folder, [Symbol.dispose]: remove }
}

/** Checks out the service at a commit into its own folder, with its own dependencies. */
export function unpackVersion(
  commit: string,
  more: string[] = [],
): { folder: string; main: string; [Symbol.dispose]: () => void } {
  const source = unpackSource(commit, more)
  const flags = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  execFileSync('npm', ['ci', '--workspace=packages/server', ...flags], { cwd: source.folder, stdio: 'pipe' })
  return { ...source, main: join(source.folder, 'packages/server/src/main.ts') }
}

function demandCommit(commit: string) {
  try {
    execFileSync('git', ['rev-parse', '--verify', '--quiet', `${commit}^{commit}`], { cwd: ROOT })
  } catch {
    throw new Error(`This clone does not have the commit ${commit}, an older version: fetch its whole history.`)
  }
}
