import { spawnSync } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { newFolder } from '@lockstep/testing/processes'
import { expect } from 'vitest'

const ROOT = new URL('../../', import.meta.url)

/** Creates the secrets of compose.yaml in a new folder. */
export async function makeSecrets(): Promise<string> {
  const folder = await newFolder()
  await cp(new URL('deploy', ROOT), join(folder, 'deploy'), { recursive: true })
  runMakeSecrets(folder)
  return folder
}

export function runMakeSecrets(folder: string) {
  const { status, stderr } = spawnSync(join(folder, 'deploy/make-secrets.sh'), { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
}
