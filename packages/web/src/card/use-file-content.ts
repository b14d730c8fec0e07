import type { Attachment } from '@lockstep/client'
import { useEffect, useState } from 'react'
import { client } from '../session.ts'
import { asKind, type FileKind } from './file-kinds.ts'

export interface FileContent {
  /** Object URL of an image or PDF. It is revoked on unmount. */
  url?: string
  text?: string
  error?: unknown
}

/** The content of a file, fetched once `isNeeded` is true. */
export function useFileContent(
  { id, mime_type }: Attachment,
  kind: FileKind | undefined,
  isNeeded = true,
): FileContent {
  const [content, setContent] = useState<FileContent & { id?: string }>({})
  useEffect(() => {
    if (!kind || !isNeeded) return
    const controller = new AbortController()
    let url: string | undefined
    const load = async () => {
      try {
        const blob = asKind(
          await client.getAttachment({ attachment_id: id }, { signal: controller.signal }),
          kind,
          mime_type,
        )
        const text = kind === 'text' ? await blob.text() : undefined
        if (controller.signal.aborted) return
        if (text === undefined) url = URL.createObjectURL(blob)
        setContent(text === undefined ? { id, url: url as string } : { id, text })
      } catch (error) {
        if (!controller.signal.aborted) setContent({ id, error })
      }
    }
    void load()
    return () => {
      controller.abort()
      if (url) URL.revokeObjectURL(url)
    }
  }, [id, kind, mime_type, isNeeded])
  // Not the content of the file before.
  return content.id === id ? content : {}
}

/** How long a browser may take to start a download. */
const DOWNLOAD_MS = 60_000

/** Downloads a file under its own name. */
export async function download({ id, name }: Pick<Attachment, 'id' | 'name'>) {
  const blob = await client.getAttachment({ attachment_id: id })
  const href = URL.createObjectURL(new Blob([blob], { type: 'application/octet-stream' }))
  Object.assign(document.createElement('a'), { href, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(href), DOWNLOAD_MS)
}
