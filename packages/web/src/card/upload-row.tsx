import { Icon } from '../ui/icon.tsx'
import { shownName, sizeOf } from './file-kinds.ts'
import { t } from './messages.ts'
import { removeUpload, startUpload, type Upload } from './uploads.ts'

/** An upload in progress, or the reason why it failed. */
export function UploadRow({ upload, isOffline }: { upload: Upload; isOffline: boolean }) {
  const { id, file, state, sent, problem, canRetry } = upload
  const name = shownName(file.name)
  return (
    <li className="cd-file is-upload">
      <span className="cd-thumb">
        <Icon name={problem ? 'warn' : 'upload'} />
      </span>
      <span className="cd-file-about">
        <span className="cd-file-name" dir="auto">
          {name}
        </span>
        {problem ? (
          <span className="cd-file-problem">{problem}</span>
        ) : (
          <span className="cd-file-progress">
            <progress aria-label={t.uploading({ name })} value={sent} max={1} />
            <span>
              {state === 'waiting'
                ? t.uploadWaiting
                : t.uploadProgress({ percent: Math.round(sent * 100), size: sizeOf(file.size) })}
            </span>
          </span>
        )}
      </span>
      {problem && canRetry && (
        <button type="button" className="button" onClick={() => void startUpload(id, isOffline)}>
          {t.retryUpload}
        </button>
      )}
      {state !== 'done' && (
        <button type="button" className="button is-quiet" onClick={() => removeUpload(id)}>
          {problem ? t.removeUpload : t.cancelUpload}
        </button>
      )}
    </li>
  )
}
