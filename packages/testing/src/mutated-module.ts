import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

type Replacement = [file: string, text: string, other: string]

/** Imports a module from a copy of its folders in which texts are replaced. Each text must occur exactly once. */
export async function importMutated<M>(
  root: string,
  folders: string[],
  module: string,
  changes: Replacement[],
): Promise<M> {
  const copy = mkdtempSync(join(tmpdir(), 'lockstep-mutated-'))
  try {
    for (const folder of folders) cpSync(join(root, folder), join(copy, folder), { recursive: true })
    for (const [file, text, other] of changes) {
      const parts = readFileSync(join(copy, file), 'utf8').split(text)
      if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${text}`)
      writeFileSync(join(copy, file), parts.join(other))
    }
    return (await import(/* @vite-ignore */ pathToFileURL(join(copy, module)).href)) as M
  } finally {
    rmSync(copy, { recursive: true })
  }
}
