import type { Attachment, Card } from '@lockstep/client'
import { type RefObject, useEffect, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { Icon } from '../ui/icon.tsx'
import { useStore } from '../ui/store.ts'
import { AttachmentRow } from './attachment-row.tsx'
import { shownName } from './file-kinds.ts'
import { FilePreview } from './file-preview.tsx'
import { UploadRow } from './upload-row.tsx'
import { attach, removeUpload, uploads } from './uploads.ts'

interface AttachmentsProps {
  card: Card
  isOffline: boolean
  /** The native file input; shortcuts and other buttons click it. */
  chooser: RefObject<HTMLInputElement | null>
}

export function Attachments({ card, isOffline, chooser }: AttachmentsProps) {
  const tools = useTools()
  const [preview, setPreview] = useState<Attachment>()
  const all = useStore(uploads).filter(({ card_id }) => card_id === card.id)
  const has = (id: string) => card.attachments.some((attachment) => attachment.id === id)
  // A finished upload stays in the list until the board contains the attachment.
  const waiting = all.filter(({ id, state }) => state !== 'done' || !has(id))
  useEffect(() => {
    for (const { id, state } of all) if (state === 'done' && has(id)) removeUpload(id)
  })
  const remove = ({ id, name }: Attachment) => {
    if (!confirm(`Delete “${shownName(name)}”? This can’t be undone.`)) return
    tools.change('deleteAttachment', { attachment_id: id })
  }
  const isEmpty = card.attachments.length === 0 && waiting.length === 0
  return (
    <section className="cd-section" aria-label="Attachments" hidden={isEmpty}>
      <div className="cd-section-head">
        <Icon name="clip" />
        <h3>Attachments</h3>
        <span className="spacer" />
        <button type="button" className="button is-quiet" onClick={() => chooser.current?.click()}>
          Add
        </button>
      </div>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={(event) => {
          attach(card.id, [...(event.target.files ?? [])], isOffline)
          event.target.value = ''
        }}
      />
      <ul className="cd-files">
        {card.attachments.map((attachment) => (
          <AttachmentRow
            key={attachment.id}
            attachment={attachment}
            onPreview={() => setPreview(attachment)}
            onDelete={() => remove(attachment)}
          />
        ))}
        {waiting.map((upload) => (
          <UploadRow key={upload.id} upload={upload} isOffline={isOffline} />
        ))}
      </ul>
      {preview && <FilePreview attachment={preview} onClose={() => setPreview(undefined)} />}
    </section>
  )
}
