import { t } from './messages.ts'

interface ShowPasswordProps {
  isShown: boolean
  onChange: (isShown: boolean) => void
}

/** The checkbox below a password field. */
export const ShowPassword = ({ isShown, onChange }: ShowPasswordProps) => (
  <label className="check">
    <input type="checkbox" checked={isShown} onChange={() => onChange(!isShown)} /> {t.showPassword}
  </label>
)
