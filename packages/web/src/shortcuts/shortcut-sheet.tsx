import { useLocation } from 'wouter'
import { preferences } from '../preferences.ts'
import { Dialog } from '../ui/dialog.tsx'
import { closeStep } from '../ui/history-step.ts'
import { Keys } from '../ui/keys.tsx'
import { useStore } from '../ui/store.ts'
import { t } from './messages.ts'
import { isLetterKey, type ScreenKeys, screensAt, shortcuts } from './shortcut-table.ts'
import './shortcuts.css'

/** All shortcuts, those of the current page first. */
export function ShortcutSheet() {
  const [path, navigate] = useLocation()
  const { hasLetterKeys } = useStore(preferences)
  const here = [...screensAt(path), 'everywhere']
  const isHere = ({ screen }: ScreenKeys) => here.includes(screen)
  const others = shortcuts.filter((part) => !isHere(part))
  return (
    <Dialog title={t.keyboardShortcuts} size="wide" onClose={closeStep}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls and has no focusable content */}
      <section className="dialog-body shortcuts" aria-label={t.shortcuts} tabIndex={0}>
        {!hasLetterKeys && (
          <p className="shortcuts-note">
            {t.singleKeysAreOff}{' '}
            <button type="button" className="link-button" onClick={() => navigate('/settings', { replace: true })}>
              {t.settings}
            </button>
          </p>
        )}
        <div className="shortcuts-part">
          {shortcuts
            .filter(isHere)
            .sort(byOrder(here))
            .map((part) => (
              <KeyTable key={part.screen} part={part} hasLetterKeys={hasLetterKeys} />
            ))}
        </div>
        {others.length > 0 && (
          <div>
            <h3>{t.onOtherPages}</h3>
            <div className="shortcuts-part">
              {others.map((part) => (
                <KeyTable key={part.screen} part={part} hasLetterKeys={hasLetterKeys} />
              ))}
            </div>
          </div>
        )}
      </section>
    </Dialog>
  )
}

const byOrder = (order: string[]) => (a: ScreenKeys, b: ScreenKeys) => order.indexOf(a.screen) - order.indexOf(b.screen)

function KeyTable({ part, hasLetterKeys }: { part: ScreenKeys; hasLetterKeys: boolean }) {
  const isOff = (keys: string) => !hasLetterKeys && isLetterKey(keys)
  return (
    <table className="shortcuts-table">
      <caption>{part.title}</caption>
      <tbody>
        {part.rows.map(({ keys, does }) => (
          <tr key={does} className={keys.every(isOff) ? 'is-off' : undefined}>
            <th scope="row">
              {keys.map((each) => (
                <Keys key={each} keys={each} />
              ))}
            </th>
            <td>
              {does}
              {keys.every(isOff) && <span className="visually-hidden"> {t.off}</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
