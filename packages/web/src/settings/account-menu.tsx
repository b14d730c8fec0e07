import { useLocation } from 'wouter'
import { openShortcuts } from '../board-state/overlay.ts'
import { logOut, session } from '../session.ts'
import { Menu } from '../ui/menu.tsx'
import { Avatar, initialsOf, nameOf } from '../ui/people.tsx'
import { useStore } from '../ui/store.ts'
import { t } from './messages.ts'

/** The menu of the logged-in user. */
export function AccountMenu() {
  const [, navigate] = useLocation()
  const { user } = useStore(session)
  if (!user) return null
  return (
    <Menu
      // Starts with the visible initials, so that speech input finds it (WCAG 2.5.3).
      label={t.accountOf({ initials: initialsOf(user), name: nameOf(user) })}
      className="account-button"
      items={[
        { label: t.settings, icon: 'settings', onSelect: () => navigate('/settings') },
        { label: t.keyboardShortcuts, icon: 'keyboard', keys: '?', onSelect: openShortcuts },
        { label: t.accessibility, icon: 'eye', onSelect: () => navigate('/accessibility') },
        undefined,
        { label: t.logOut, icon: 'out', onSelect: () => void logOut() },
      ]}
    >
      <Avatar person={user} />
    </Menu>
  )
}
