import type { Attachment, Card } from '@lockstep/client'
import { type RefObject, useEffect, useRef } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { confirmAction } from '../ui/confirm.ts'
import { Icon } from '../ui/icon.tsx'
import { useStore } from '../ui/store.ts'
import { AttachmentRow } from './attachment-row.tsx'
import { shownName } from './file-kinds.ts'
import { FilePreview, openPreview } from './file-preview.tsx'
import { t } from './messages.ts'
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
  const list = useRef<HTMLUListElement>(null)
  const all = useStore(uploads).filter(({ card_id }) => card_id === card.id)
  const has = (id: string) => card.attachments.some((attachment) => attachment.id === id)
  // A finished upload stays in the list until the board contains the attachment.
  const waiting = all.filter(({ id, state }) => state !== 'done' || !has(id))
  useEffect(() => {
    for (const { id, state } of all) if (state === 'done' && has(id)) removeUpload(id)
  })
  const remove = async ({ id, name }: Attachment) => {
    const question = {
      title: t.deleteFileTitle({ name: shownName(name) }),
      text: t.deleteFileText,
      action: t.deleteFileAction,
    }
    if (!(await confirmAction(question))) return
    passFocus(list.current, id)
    tools.change('deleteAttachment', { attachment_id: id })
  }
  const isEmpty = card.attachments.length === 0 && waiting.length === 0
  return (
    <section className="cd-section" aria-label={t.attachments} hidden={isEmpty}>
      <div className="cd-section-head">
        <Icon name="clip" />
        <h3>{t.attachments}</h3>
        <span className="spacer" />
        <button type="button" className="button is-quiet" onClick={() => chooser.current?.click()}>
          {t.add}
        </button>
      </div>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label={t.filesToAttach}
        onChange={(event) => {
          void attach(card.id, [...(event.target.files ?? [])], isOffline)
          event.target.value = ''
        }}
      />
      <ul ref={list} className="cd-files">
        {card.attachments.map((attachment) => (
          <AttachmentRow
            key={attachment.id}
            attachment={attachment}
            onPreview={() => openPreview(attachment)}
            onDelete={() => void remove(attachment)}
          />
        ))}
        {waiting.map((upload) => (
          <UploadRow key={upload.id} upload={upload} isOffline={isOffline} />
        ))}
      </ul>
      <FilePreview files={card.attachments} />
    </section>
  )
}

/** Before a row disappears, focuses the next or previous one, or the title. */
function passFocus(list: HTMLElement | null, id: string) {
  const row = list?.querySelector(`[data-file-id="${CSS.escape(id)}"]`)
  const next = row?.nextElementSibling ?? row?.previousElementSibling
  const title = list?.closest('.layer')?.querySelector<HTMLElement>('[data-first]')
  const target = next ? next.querySelector('button') : title
  target?.focus()
}
