import type { Attachment } from '@lockstep/client'
import { useState } from 'react'
import { Dialog } from '../ui/dialog.tsx'
import { Failure } from '../ui/failure.tsx'
import { Icon } from '../ui/icon.tsx'
import { save } from './attachment-row.tsx'
import { kindOf, shownName } from './file-kinds.ts'
import { useFileContent } from './use-file-content.ts'

/** Preview of a file from its bytes. Nothing in it can run or load other resources. */
export function FilePreview({ attachment, onClose }: { attachment: Attachment; onClose: () => void }) {
  const kind = kindOf(attachment)
  const { url, text, error } = useFileContent(attachment, kind)
  const [isBroken, setBroken] = useState(false)
  const name = shownName(attachment.name)
  return (
    <Dialog
      title={name}
      size="wide"
      onClose={onClose}
      actions={
        <button type="button" className="button" onClick={() => save(attachment)}>
          <Icon name="download" />
          Download
        </button>
      }
    >
      <div className="dialog-body cd-file-preview" aria-busy={!url && text === undefined && !error}>
        {error !== undefined && <Failure error={error} />}
        {url && kind === 'image' && !isBroken && <img src={url} alt={name} onError={() => setBroken(true)} />}
        {isBroken && <p className="hint">This image can’t be shown. You can still download it.</p>}
        {url && kind === 'pdf' && <iframe src={url} title={name} />}
        {text !== undefined && <pre>{text}</pre>}
      </div>
    </Dialog>
  )
}
