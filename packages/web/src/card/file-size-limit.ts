import { serverLimits } from '../ui/server-limits.ts'
import { sizeOf } from './file-kinds.ts'
import { t } from './messages.ts'

/** An error message if the file is too large to upload. If the limit is unknown, the server rejects the file itself. */
export async function tooLarge({ size }: File): Promise<string | undefined> {
  const limit = (await serverLimits())?.max_attachment_bytes
  if (limit === undefined || size <= limit) return undefined
  const inBytes = (bytes: number) => t.bytes({ count: bytes })
  const shown = sizeOf(size) === sizeOf(limit) ? inBytes : sizeOf
  return t.fileTooLarge({ size: shown(size), limit: shown(limit) })
}
