import { execFile } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BUILT = 'packages/web/dist/index.html'
/** The files that the build depends on. */
const SOURCES = [
  'packages/web/{index.html,package.json,vite.config.ts}',
  'packages/web/{src,public}/**/*',
  'packages/client/src/**/*.ts',
]

/** Whether the build of the web client is newer than its sources. */
export function isWebBuilt(): boolean {
  const changedAt = (path: string) => statSync(`${ROOT}${path}`, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const builtAt = changedAt(BUILT)
  return globSync(SOURCES, { cwd: ROOT }).every((file) => changedAt(file) < builtAt)
}

export async function buildWeb(signal?: AbortSignal) {
  // Vitest sets NODE_ENV to test, which would select the development build of React.
  const env = { ...process.env, NODE_ENV: 'production' }
  // On Windows npm is a script, which only a shell can run.
  const shell = process.platform === 'win32'
  await promisify(execFile)('npm', ['run', 'build'], { cwd: ROOT, env, shell, ...(signal && { signal }) })
}

export async function buildWebIfOld() {
  if (!isWebBuilt()) await buildWeb()
}

/** Vitest calls this once before all tests. */
export const setup = buildWebIfOld
