import type { Attachment } from '@lockstep/client'
import { useEffect, useRef, useState } from 'react'
import { errorMessage } from '../ui/failure.tsx'
import { Icon } from '../ui/icon.tsx'
import { showToast } from '../ui/toasts.ts'
import { kindOf, shownName, sizeOf } from './file-kinds.ts'
import { t } from './messages.ts'
import { download, useFileContent } from './use-file-content.ts'

interface AttachmentRowProps {
  attachment: Attachment
  onPreview: () => void
  /** Undefined if it can't be deleted. */
  onDelete?: () => void
}

export const save = (attachment: Attachment) =>
  void download(attachment).catch((error: unknown) =>
    showToast(t.fileProblem({ name: shownName(attachment.name), problem: errorMessage(error) })),
  )

export function AttachmentRow({ attachment, onPreview, onDelete }: AttachmentRowProps) {
  const { size, mime_type } = attachment
  const name = shownName(attachment.name)
  const kind = kindOf(attachment)
  const open = kind ? onPreview : () => save(attachment)
  return (
    <li className="cd-file" data-file-id={attachment.id}>
      <Thumb attachment={attachment} />
      <span className="cd-file-about">
        <button type="button" className="cd-file-name" dir="auto" onClick={open}>
          {name}
          <span className="visually-hidden">{kind ? t.previewSuffix : t.downloadSuffix}</span>
        </button>
        <span className="cd-file-note">
          {sizeOf(size)}
          {!kind && ` · ${mime_type}`}
        </span>
      </span>
      <button
        type="button"
        className="icon-button"
        aria-label={t.downloadFile({ name })}
        onClick={() => save(attachment)}
      >
        <Icon name="download" />
      </button>
      {onDelete && (
        <button type="button" className="icon-button" aria-label={t.deleteFile({ name })} onClick={onDelete}>
          <Icon name="trash" />
        </button>
      )}
    </li>
  )
}

/** Thumbnail of an image, loaded when it scrolls into view. */
function Thumb({ attachment }: { attachment: Attachment }) {
  const box = useRef<HTMLSpanElement>(null)
  const [isVisible, setVisible] = useState(false)
  const [isBroken, setBroken] = useState(false)
  const kind = kindOf(attachment)
  const { url } = useFileContent(attachment, kind === 'image' ? kind : undefined, isVisible)
  useEffect(() => {
    if (!box.current) return
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setVisible(true)
    })
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  return (
    <span ref={box} className="cd-thumb">
      {url && !isBroken ? <img src={url} alt="" onError={() => setBroken(true)} /> : <Icon name="file" />}
    </span>
  )
}
