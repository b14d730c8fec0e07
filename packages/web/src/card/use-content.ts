import type { Attachment } from '@lockstep/client'
import { useEffect, useState } from 'react'
import { client } from '../session.ts'
import { asKind, type FileKind } from './file-kinds.ts'

export interface Content {
  /** For pictures and PDFs: an address that ends with who shows it. */
  url?: string
  text?: string
  error?: unknown
}

/** The content of a file to be shown, fetched when it is wanted. */
export function useContent({ id, mime_type }: Attachment, kind: FileKind | undefined, is_wanted = true): Content {
  const [content, setContent] = useState<Content>({})
  useEffect(() => {
    if (!kind || !is_wanted) return
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
        setContent(text === undefined ? { url: url as string } : { text })
      } catch (error) {
        if (!controller.signal.aborted) setContent({ error })
      }
    }
    void load()
    return () => {
      controller.abort()
      if (url) URL.revokeObjectURL(url)
    }
  }, [id, kind, mime_type, is_wanted])
  return content
}

/** How long a browser may take to begin a download. */
const DOWNLOAD_MS = 60_000

/** Hands a file to the browser under its own name, which is only a name. */
export async function download({ id, name }: Pick<Attachment, 'id' | 'name'>) {
  const blob = await client.getAttachment({ attachment_id: id })
  const href = URL.createObjectURL(new Blob([blob], { type: 'application/octet-stream' }))
  Object.assign(document.createElement('a'), { href, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(href), DOWNLOAD_MS)
}
