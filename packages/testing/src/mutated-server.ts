import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { newFolder } from './processes.ts'

/** A seeded defect: a text in a file below `packages/server/src`, and what replaces it. */
export interface ServerMutation {
  file: string
  original: string
  mutated: string
}

/** Copies the server, with one mutation. Returns its main module. */
export async function mutatedServer({ file, original, mutated }: ServerMutation): Promise<string> {
  const root = fileURLToPath(new URL('../../../', import.meta.url))
  const folder = await newFolder()
  for (const name of ['package.json', 'packages/server', 'packages/contract'])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const path = join(folder, 'packages/server/src', file)
  const text = readFileSync(path, 'utf8')
  if (!text.includes(original)) throw new Error(`${file} no longer contains: ${original}`)
  writeFileSync(
    path,
    text.replace(original, () => mutated),
  )
  return join(folder, 'packages/server/src/main.ts')
}
