import { sizeOf } from './file-kinds.ts'
import { t } from './messages.ts'

let requested: Promise<number | undefined> | undefined

/** The server's maximum file size. `undefined` if the request fails: then the server rejects the file itself. */
async function fetchLimit(): Promise<number | undefined> {
  try {
    const response = await fetch('/app/limits.json')
    return ((await response.json()) as { max_attachment_bytes: number }).max_attachment_bytes
  } catch {
    requested = undefined
    return undefined
  }
}

/** An error message if the file is too large to upload. */
export async function tooLarge({ size }: File): Promise<string | undefined> {
  requested ??= fetchLimit()
  const limit = await requested
  if (limit === undefined || size <= limit) return undefined
  const inBytes = (bytes: number) => t.bytes({ count: bytes })
  const shown = sizeOf(size) === sizeOf(limit) ? inBytes : sizeOf
  return t.fileTooLarge({ size: shown(size), limit: shown(limit) })
}
