import { spawnSync } from 'node:child_process'
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newFolder } from '@lockstep/testing/processes'
import { expect } from 'vitest'

const ROOT = new URL('../../', import.meta.url)

/** Runs the commands of docs/deploying.md that create the secrets, in a new folder. */
export async function makeSecrets(): Promise<string> {
  const folder = await newFolder()
  await cp(new URL('deploy', ROOT), join(folder, 'deploy'), { recursive: true })
  const page = await readFile(new URL('docs/deploying.md', ROOT), 'utf8')
  const [, block = ''] = /```sh\n(mkdir -m 700 secrets[^`]*)```/.exec(page) ?? []
  const commands = block.split('\n').filter((line) => !line.startsWith('docker '))
  const { status, stderr } = spawnSync('sh', ['-e', '-c', commands.join('\n')], { cwd: folder, encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
  return folder
}
