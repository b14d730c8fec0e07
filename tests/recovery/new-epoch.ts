import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inherited } from '@lockstep/testing/processes'

const ADMIN = fileURLToPath(new URL('../../packages/server/src/administration/admin.ts', import.meta.url))

/** Runs `npm run admin -- new-epoch`. Returns its output. */
export async function startNewEpoch(DATABASE_URL: string): Promise<string> {
  const env = { ...inherited, DATABASE_URL, REDIS_URL: '' }
  return (await promisify(execFile)(process.execPath, [ADMIN, 'new-epoch'], { env })).stdout.trim()
}
