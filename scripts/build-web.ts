import { execFile } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BUILT = 'packages/web/dist/index.html'
/** All that the built client is made of. */
const SOURCES = [
  'packages/web/{index.html,package.json,vite.config.ts}',
  'packages/web/{src,public}/**/*',
  'packages/client/src/**/*.ts',
]

/** Whether the web client was built after its last change. */
export function isWebBuilt(): boolean {
  const changed_at = (path: string) => statSync(`${ROOT}${path}`, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const built_at = changed_at(BUILT)
  return globSync(SOURCES, { cwd: ROOT }).every((file) => changed_at(file) < built_at)
}

export async function buildWeb(signal?: AbortSignal) {
  // Vitest says that this is a test, and React would be the slow one that explains itself.
  const env = { ...process.env, NODE_ENV: 'production' }
  await promisify(execFile)('npm', ['run', 'build'], { cwd: ROOT, env, ...(signal && { signal }) })
}

export async function buildWebIfOld() {
  if (!isWebBuilt()) await buildWeb()
}

/** Vitest calls this once before all tests. */
export const setup = buildWebIfOld
