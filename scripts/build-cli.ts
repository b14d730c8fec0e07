import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { withPackageLinks } from './published-docs.ts'
import { buildOptions, run, writeManifest } from './published-package.ts'

/**
 * Builds packages/cli/dist: one JavaScript file that includes the client library, and a package.json without dependencies for
 * publishing. Inside the workspace the command runs from its sources. `--check` also lints the result with publint; `--out` writes to another
 * folder.
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
chmodSync(`${dist}/bin/main.js`, 0o755)
const readme = readFileSync(`${root}${folder}/README.md`, 'utf8')
writeFileSync(`${dist}/README.md`, withPackageLinks(`${folder}/README.md`, readme, new Map()))
writeManifest(folder, dist, { bin: { lockstep: 'bin/main.js' } })

if (isChecked) run('publint', '--strict', dist)
