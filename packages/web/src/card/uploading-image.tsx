import { t } from './messages.ts'

/** Why a text with a pasted image cannot be saved yet. */
export const UploadingImage = () => (
  <p className="hint" role="status">
    {t.uploadingImage}
  </p>
)
