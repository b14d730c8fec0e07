import { sizeOf } from './file-kinds.ts'

let asked: Promise<number | undefined> | undefined

/** The largest file that the service takes. Undefined when it cannot be asked: then the service itself refuses. */
async function askLimit(): Promise<number | undefined> {
  try {
    const answer = await fetch('/app/limits.json')
    return ((await answer.json()) as { max_attachment_bytes: number }).max_attachment_bytes
  } catch {
    asked = undefined
    return undefined
  }
}

/** Why a file cannot be attached, before any of it is sent. */
export async function tooLarge({ size }: File): Promise<string | undefined> {
  asked ??= askLimit()
  const limit = await asked
  if (limit === undefined || size <= limit) return undefined
  const inBytes = (bytes: number) => `${bytes.toLocaleString('en')} bytes`
  const shown = sizeOf(size) === sizeOf(limit) ? inBytes : sizeOf
  return `Too large (${shown(size)}). The limit is ${shown(limit)}.`
}
