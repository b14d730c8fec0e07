import { type ReactNode, useId } from 'react'
import { openShortcuts } from '../board-state/overlay.ts'
import { preferences, setLetterKeys, setTheme, type Theme } from '../preferences.ts'
import { logOut, logOutEverywhere, me } from '../session.ts'
import { errorMessage } from '../ui/failure.tsx'
import { Icon } from '../ui/icon.tsx'
import { useStore } from '../ui/store.ts'
import { showToast } from '../ui/toasts.tsx'
import { PageFrame } from './page-frame.tsx'
import { PasswordForm } from './password-form.tsx'
import { ProfileForm } from './profile-form.tsx'

const themes: [theme: Theme, label: string][] = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

function logOutAll() {
  logOutEverywhere().catch((error: unknown) => showToast(errorMessage(error)))
}

/** The user's settings. Theme and shortcuts are stored in this browser, the rest in the account. */
export function SettingsPage() {
  const { theme, hasLetterKeys } = useStore(preferences)
  return (
    <PageFrame title="Settings">
      <Setting title="Appearance">
        <fieldset className="choices">
          <legend>Theme</legend>
          {themes.map(([each, label]) => (
            <label key={each} className="check">
              <input type="radio" name="theme" checked={theme === each} onChange={() => setTheme(each)} /> {label}
            </label>
          ))}
        </fieldset>
      </Setting>
      <Setting title="Keyboard">
        <label className="check">
          <input
            type="checkbox"
            checked={hasLetterKeys}
            aria-describedby="setting-keys-hint"
            onChange={(event) => setLetterKeys(event.target.checked)}
          />
          Single-key shortcuts
        </label>
        <p id="setting-keys-hint" className="setting-hint">
          Turn these off if you use speech input or press keys by accident. Arrow keys, Ctrl shortcuts and the command
          palette keep working.
        </p>
        <button type="button" className="button" onClick={openShortcuts}>
          <Icon name="keyboard" /> All keyboard shortcuts
        </button>
      </Setting>
      <Setting title="Profile">
        <ProfileForm user={me()} />
      </Setting>
      <Setting title="Password">
        <PasswordForm email={me().email} />
      </Setting>
      <Setting title="Session">
        <p className="setting-hint">You are logged in as {me().email}.</p>
        <button type="button" className="button" onClick={() => void logOut()}>
          <Icon name="out" /> Log out
        </button>
        <button type="button" className="button" aria-describedby="setting-everywhere-hint" onClick={logOutAll}>
          <Icon name="out" /> Log out everywhere
        </button>
        <p id="setting-everywhere-hint" className="setting-hint">
          Logs you out on all devices, including this one.
        </p>
      </Setting>
    </PageFrame>
  )
}

function Setting({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <section className="setting" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <div className="setting-body">{children}</div>
    </section>
  )
}
