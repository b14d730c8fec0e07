import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { publishedDocs } from './published-docs.ts'

/**
 * Builds packages/client/dist: JavaScript, declarations, and a package.json for publishing. Inside the workspace the package is
 * used from its sources. `--check` also lints the result with publint and attw.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const dist = `${root}packages/client/dist`
interface Manifest {
  exports: Record<string, string>
  [field: string]: unknown
}

rmSync(dist, { recursive: true, force: true })
run('tsc', '-p', 'packages/client/tsconfig.build.json')
// The compiler rewrites import extensions in JavaScript, but not in declarations.
for (const file of globSync(`${dist}/**/*.d.ts`)) {
  const text = readFileSync(file, 'utf8').replaceAll(/((?:from |import\()['"]\.[^'"]*)\.tsx?(['"])/g, '$1.js$2')
  const foreign = /(?:from |import\()['"]((?!\.|react['"/])[^'"]*)['"]/.exec(text)?.[1]
  if (foreign) fail(`${file} imports the types of ${foreign}, which is not a dependency`)
  writeFileSync(file, text)
}
const manifest = JSON.parse(readFileSync(`${root}packages/client/package.json`, 'utf8')) as Manifest
const { private: _, scripts: __, ...published } = manifest
const entries = Object.entries(manifest.exports).filter(([, source]) => existsSync(`${root}packages/client/${source}`))
const exports = Object.fromEntries(
  entries.map(([name, source]) => {
    const built = source.replace('./src/', './').replace(/\.tsx?$/, '')
    return [name, { types: `${built}.d.ts`, default: `${built}.js` }]
  }),
)
writeFileSync(`${dist}/package.json`, `${JSON.stringify({ ...published, exports }, null, 2)}\n`)
for (const [name, text] of publishedDocs(root)) writeFileSync(`${dist}/${name}`, text)
copyFileSync(`${root}LICENSE`, `${dist}/LICENSE`)

if (process.argv.includes('--check')) {
  run('publint', '--strict', dist)
  run('attw', '--pack', dist, '--profile', 'esm-only')
}

function run(command: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) fail(`${command} ${args.join(' ')}\n${stdout}${stderr}`)
}
function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
