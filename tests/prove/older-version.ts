import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The service as it was at a commit, in a folder of its own: what runs there is its own code throughout. */
export function unpackVersion(commit: string): { main: string; [Symbol.dispose]: () => void } {
  demandCommit(commit)
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-version-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  // However the run ends, the folder goes.
  process.once('exit', remove)
  const archive = execFileSync('git', ['archive', commit, 'packages', 'package.json'], {
    cwd: ROOT,
    maxBuffer: 2 ** 30,
  })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  linkModules(folder)
  return { main: join(folder, 'packages/server/src/main.ts'), [Symbol.dispose]: remove }
}

/** What is installed serves both; only our own packages must be those of the version. */
function linkModules(folder: string) {
  const [installed, modules] = [join(ROOT, 'node_modules'), join(folder, 'node_modules')]
  mkdirSync(join(modules, '@lockstep'), { recursive: true })
  for (const name of readdirSync(installed).filter((each) => each !== '@lockstep'))
    symlinkSync(join(installed, name), join(modules, name))
  for (const name of readdirSync(join(folder, 'packages')))
    symlinkSync(join(folder, 'packages', name), join(modules, '@lockstep', name))
}

function demandCommit(commit: string) {
  try {
    execFileSync('git', ['rev-parse', '--verify', '--quiet', `${commit}^{commit}`], { cwd: ROOT })
  } catch {
    throw new Error(
      `This clone does not have the commit ${commit}, the version to upgrade from: fetch its whole history.`,
    )
  }
}
