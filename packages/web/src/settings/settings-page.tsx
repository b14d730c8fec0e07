import { type ReactNode, useId, useState } from 'react'
import { openShortcuts } from '../board-state/overlay.ts'
import { preferences, setLetterKeys, setTheme, type Theme } from '../preferences.ts'
import { logOut, logOutEverywhere, me } from '../session.ts'
import { errorMessage } from '../ui/failure.tsx'
import { Icon } from '../ui/icon.tsx'
import { useStore } from '../ui/store.ts'
import { showToast } from '../ui/toasts.ts'
import { AccessTokens } from './access-tokens.tsx'
import { t } from './messages.ts'
import { PageFrame } from './page-frame.tsx'
import { PasswordForm } from './password-form.tsx'
import { ProfileForm } from './profile-form.tsx'
import { t as tokenTexts } from './token-messages.ts'

const themes: [theme: Theme, label: string][] = [
  ['system', t.themeSystem],
  ['light', t.themeLight],
  ['dark', t.themeDark],
]

function logOutAll() {
  logOutEverywhere().catch((error: unknown) => showToast(errorMessage(error)))
}

/** The user's settings. Theme and shortcuts are stored in this browser, the rest in the account. */
export function SettingsPage() {
  const { theme, hasLetterKeys } = useStore(preferences)
  /** Changes when all tokens were revoked, so that they are loaded again. */
  const [tokenVersion, setTokenVersion] = useState(0)
  return (
    <PageFrame title={t.settings}>
      <Setting title={t.appearance}>
        <fieldset className="choices">
          <legend>{t.theme}</legend>
          {themes.map(([each, label]) => (
            <label key={each} className="check">
              <input type="radio" name="theme" checked={theme === each} onChange={() => setTheme(each)} /> {label}
            </label>
          ))}
        </fieldset>
      </Setting>
      <Setting title={t.keyboard}>
        <label className="check">
          <input
            type="checkbox"
            checked={hasLetterKeys}
            aria-describedby="setting-keys-hint"
            onChange={(event) => setLetterKeys(event.target.checked)}
          />
          {t.singleKeyShortcuts}
        </label>
        <p id="setting-keys-hint" className="setting-hint">
          {t.singleKeyShortcutsHint}
        </p>
        <button type="button" className="button" onClick={openShortcuts}>
          <Icon name="keyboard" /> {t.allKeyboardShortcuts}
        </button>
      </Setting>
      <Setting title={t.profile}>
        <ProfileForm user={me()} />
      </Setting>
      <Setting title={t.password}>
        <PasswordForm email={me().email} onTokensRevoked={() => setTokenVersion((now) => now + 1)} />
      </Setting>
      <Setting title={tokenTexts.accessTokens}>
        <AccessTokens key={tokenVersion} />
      </Setting>
      <Setting title={t.session}>
        <p className="setting-hint">{t.loggedInAs({ email: me().email })}</p>
        <button type="button" className="button" onClick={() => void logOut()}>
          <Icon name="out" /> {t.logOut}
        </button>
        <button type="button" className="button" aria-describedby="setting-everywhere-hint" onClick={logOutAll}>
          <Icon name="out" /> {t.logOutEverywhere}
        </button>
        <p id="setting-everywhere-hint" className="setting-hint">
          {t.logOutEverywhereHint}
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
