import { spawnSync } from 'node:child_process'
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newFolder } from '@lockstep/testing/processes'
import { expect } from 'vitest'

const ROOT = new URL('../../', import.meta.url)

/** A folder with the secrets that the commands of the page on deploying make. */
export async function makeSecrets(): Promise<string> {
  const folder = await newFolder()
  await cp(new URL('deploy', ROOT), join(folder, 'deploy'), { recursive: true })
  const page = await readFile(new URL('docs/deploying.md', ROOT), 'utf8')
  const [, block = ''] = /```sh\n(mkdir -m 700 secrets[^`]*)```/.exec(page) ?? []
  const made = block.split('\n').filter((line) => !line.startsWith('docker '))
  const { status, stderr } = spawnSync('sh', ['-e', '-c', made.join('\n')], { cwd: folder, encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
  return folder
}
