import { type ReactNode, useId } from 'react'
import { openShortcuts } from '../palette/overlay.ts'
import { logOut, logOutEverywhere, me } from '../session.ts'
import { sentenceOf } from '../ui/failure.tsx'
import { Icon } from '../ui/icon.tsx'
import { useStore } from '../ui/store.ts'
import { showToast } from '../ui/toasts.tsx'
import { PageFrame } from './page-frame.tsx'
import { PasswordForm } from './password-form.tsx'
import { preferences, setLetterKeys, setTheme, type Theme } from './preferences.ts'
import { ProfileForm } from './profile-form.tsx'

const themes: [theme: Theme, label: string][] = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

function leaveEverywhere() {
  logOutEverywhere().catch((error: unknown) => showToast(sentenceOf(error)))
}

/** What somebody sets for himself. Theme and keys belong to this browser, the rest to the account. */
export function SettingsPage() {
  const { theme, has_letter_keys } = useStore(preferences)
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
            checked={has_letter_keys}
            aria-describedby="setting-keys-hint"
            onChange={(event) => setLetterKeys(event.target.checked)}
          />
          Shortcuts of a single letter
        </label>
        <p id="setting-keys-hint" className="setting-hint">
          Turn them off if you dictate, or if keys are pressed by accident. Arrows, Control and the command palette
          stay.
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
        <button type="button" className="button" aria-describedby="setting-everywhere-hint" onClick={leaveEverywhere}>
          <Icon name="out" /> Log out everywhere
        </button>
        <p id="setting-everywhere-hint" className="setting-hint">
          Ends your sessions on all devices, this one too.
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
