import { execFileSync } from 'node:child_process'
import { globSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SCRIPTS = fileURLToPath(new URL('../../../scripts/', import.meta.url))

/** Builds and packs packages of this repository, and installs them in another folder, as their users do. */
export function installPackages(folder: string, ...names: ('client' | 'cli')[]): void {
  const npm = (...args: string[]) =>
    execFileSync('npm', [...args, '--no-audit', '--no-fund'], { cwd: folder, stdio: 'pipe' })
  for (const name of names) {
    execFileSync(process.execPath, [join(SCRIPTS, `build-${name}.ts`), '--out', join(folder, 'built', name)])
    npm('pack', `./built/${name}`)
  }
  writeFileSync(join(folder, 'package.json'), '{}')
  npm('install', '--offline', ...globSync('*.tgz', { cwd: folder }).map((file) => `./${file}`))
}
