import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { publishedDocs } from './published-docs.ts'
import { buildOptions, fail, run, writeManifest } from './published-package.ts'

/**
 * Builds packages/client/dist: JavaScript with source maps, declarations, and a package.json for publishing. Inside the workspace the
 * package is used from its sources. `--check` also lints the result with publint and attw; `--out` writes to another folder.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const { dist, isChecked } = buildOptions('packages/client')

rmSync(dist, { recursive: true, force: true })
run('tsc', '-p', 'packages/client/tsconfig.build.json', '--outDir', dist)
// The compiler rewrites import extensions in JavaScript, but not in declarations.
for (const file of globSync(`${dist}/**/*.d.ts`)) {
  const text = readFileSync(file, 'utf8').replaceAll(/((?:from |import\()['"]\.[^'"]*)\.tsx?(['"])/g, '$1.js$2')
  const foreign = /(?:from |import\()['"]((?!\.|react['"/])[^'"]*)['"]/.exec(text)?.[1]
  if (foreign) fail(`${file} imports the types of ${foreign}, which is not a dependency`)
  writeFileSync(file, text)
}
const manifest = JSON.parse(readFileSync(`${root}packages/client/package.json`, 'utf8'))
const entries = Object.entries<string>(manifest.exports).filter(([, source]) =>
  existsSync(`${root}packages/client/${source}`),
)
const exports = Object.fromEntries(
  entries.map(([name, source]) => {
    const built = source.replace('./src/', './').replace(/\.tsx?$/, '')
    return [name, { types: `${built}.d.ts`, default: `${built}.js` }]
  }),
)
writeManifest('packages/client', dist, { exports })
for (const [name, text] of publishedDocs(root)) writeFileSync(`${dist}/${name}`, text)

if (isChecked) {
  run('publint', '--strict', dist)
  run('attw', '--pack', dist, '--profile', 'esm-only')
}
