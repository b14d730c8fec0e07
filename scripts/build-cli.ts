import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { withPackageLinks } from './published-docs.ts'
import { buildOptions, run, writeManifest } from './published-package.ts'

/**
 * Builds packages/cli/dist: one bundle that includes the client library, a program that loads it, and a package.json without
 * dependencies for publishing. Inside the workspace the command runs from its sources. `--check` also lints the result with
 * publint; `--out` writes to another folder.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = 'packages/cli'
const { dist, isChecked } = buildOptions(folder)

rmSync(dist, { recursive: true, force: true })
await build({
  entryPoints: [`${root}${folder}/src/main.ts`],
  outfile: `${dist}/bin/main.js`,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  sourcemap: true,
  legalComments: 'none',
  logLevel: 'error',
})
const { engines } = JSON.parse(readFileSync(`${root}${folder}/package.json`, 'utf8'))
const oldest = engines.node.replace('>=', '')
writeFileSync(
  `${dist}/bin/lockstep.js`,
  `#!/usr/bin/env node
// An older Node.js cannot even load main.js, so this file says what it needs.
if ('${oldest}'.localeCompare(process.versions.node, 'en', { numeric: true }) > 0) {
  console.error('lockstep needs Node.js ${oldest} or newer, and this is ' + process.versions.node + '.')
  process.exit(1)
}
import('./main.js')
`,
)
chmodSync(`${dist}/bin/lockstep.js`, 0o755)
const readme = readFileSync(`${root}${folder}/README.md`, 'utf8')
writeFileSync(`${dist}/README.md`, withPackageLinks(`${folder}/README.md`, readme, new Map()))
writeManifest(folder, dist, { bin: { lockstep: 'bin/lockstep.js' } })

if (isChecked) run('publint', '--strict', dist)
