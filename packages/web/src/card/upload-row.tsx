import { Icon } from '../ui/icon.tsx'
import { shownName, sizeOf } from './file-kinds.ts'
import { drop, send, type Upload } from './uploads.ts'

/** A file on its way, or why it is not. */
export function UploadRow({ upload, is_offline }: { upload: Upload; is_offline: boolean }) {
  const { id, file, state, sent, problem, can_retry } = upload
  const name = shownName(file.name)
  return (
    <li className="cd-file is-upload">
      <span className="cd-thumb">
        <Icon name={problem ? 'warn' : 'upload'} />
      </span>
      <span className="cd-file-about">
        <span className="cd-file-name">{name}</span>
        {problem ? (
          <span className="cd-file-problem">{problem}</span>
        ) : (
          <span className="cd-file-progress">
            <progress aria-label={`Sending ${name}`} value={sent} max={1} />
            <span>{state === 'waiting' ? 'Waiting' : `${Math.round(sent * 100)} % of ${sizeOf(file.size)}`}</span>
          </span>
        )}
      </span>
      {problem && can_retry && (
        <button type="button" className="button" onClick={() => send(id, is_offline)}>
          Try again
        </button>
      )}
      {state !== 'done' && (
        <button type="button" className="button is-quiet" onClick={() => drop(id)}>
          {problem ? 'Remove' : 'Cancel'}
        </button>
      )}
    </li>
  )
}
