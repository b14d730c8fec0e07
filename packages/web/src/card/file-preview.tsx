import type { Attachment } from '@lockstep/client'
import { useEffect, useState } from 'react'
import { Dialog } from '../ui/dialog.tsx'
import { Failure } from '../ui/failure.tsx'
import { closeStep, openStep, useHistoryStep } from '../ui/history-step.ts'
import { Icon } from '../ui/icon.tsx'
import { save } from './attachment-row.tsx'
import { kindOf, shownName } from './file-kinds.ts'
import { t } from './messages.ts'
import { useFileContent } from './use-file-content.ts'

const FILE = 'file'
export const openPreview = (attachment: Attachment) => openStep(FILE, attachment)

/** The preview that is open over a card with these files. */
export function FilePreview({ files }: { files: readonly Attachment[] }) {
  const attachment = useHistoryStep<Attachment>(FILE)
  const images = files.filter((each) => kindOf(each) === 'image')
  return attachment && <OpenPreview attachment={attachment} images={images} />
}

interface OpenPreviewProps {
  attachment: Attachment
  /** All images of the card. */
  images: readonly Attachment[]
}

/** Preview of a file from its bytes. Nothing in it can run or load other resources. */
function OpenPreview({ attachment, images }: OpenPreviewProps) {
  const kind = kindOf(attachment)
  const { url, text, error } = useFileContent(attachment, kind)
  const name = shownName(attachment.name)
  return (
    <Dialog
      title={name}
      size="wide"
      onClose={closeStep}
      actions={
        <>
          {kind === 'image' && images.length > 1 && <ImageSteps attachment={attachment} images={images} />}
          <button type="button" className="button" onClick={() => save(attachment)}>
            <Icon name="download" />
            {t.download}
          </button>
        </>
      }
    >
      <div className="dialog-body cd-file-preview" aria-busy={!url && text === undefined && !error}>
        {error !== undefined && <Failure error={error} />}
        {error === undefined && kind === 'image' && <LargeImage url={url} name={name} />}
        {/* Without the toolbar of the browser, which would save the file under another name. */}
        {url && kind === 'pdf' && <iframe src={`${url}#toolbar=0`} title={name} />}
        {text !== undefined && <pre dir="auto">{text}</pre>}
      </div>
    </Dialog>
  )
}

/** An image that fits the window. A click shows it in its own size. */
function LargeImage({ url, name }: { url: string | undefined; name: string }) {
  const [brokenUrl, setBrokenUrl] = useState<string>()
  const [isLarge, setLarge] = useState(false)
  if (url && url === brokenUrl) return <p className="hint">{t.imageBroken}</p>
  return (
    <button
      type="button"
      className={isLarge ? 'cd-image is-large' : 'cd-image'}
      aria-label={(isLarge ? t.fitToWindow : t.enlarge)({ name })}
      onClick={() => setLarge(!isLarge)}
    >
      {url && <img src={url} alt="" onError={() => setBrokenUrl(url)} />}
    </button>
  )
}

/** Buttons for the previous and next image of the card. The arrow keys do the same. */
function ImageSteps({ attachment, images }: OpenPreviewProps) {
  const at = images.findIndex(({ id }) => id === attachment.id)
  const [previous, next] = [images[at - 1], images[at + 1]]
  useEffect(() => {
    const handleKey = (event: KeyboardEvent) => {
      const to = { ArrowLeft: previous, ArrowRight: next }[event.key]
      if (!to || event.defaultPrevented) return
      event.preventDefault()
      openPreview(to)
    }
    addEventListener('keydown', handleKey)
    return () => removeEventListener('keydown', handleKey)
  }, [previous, next])
  const step = (label: string, icon: 'left' | 'right', to: Attachment | undefined) => (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      // Unlike a disabled button, it keeps the focus.
      aria-disabled={!to}
      onClick={() => to && openPreview(to)}
    >
      <Icon name={icon} />
    </button>
  )
  return (
    <>
      {step(t.previousImage, 'left', previous)}
      <span className="cd-count" role="status">
        {t.positionOf({ position: at + 1, total: images.length })}
      </span>
      {step(t.nextImage, 'right', next)}
    </>
  )
}
