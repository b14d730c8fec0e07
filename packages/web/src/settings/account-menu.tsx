import { useLocation } from 'wouter'
import { openShortcuts } from '../board-state/overlay.ts'
import { logOut, session } from '../session.ts'
import { Menu } from '../ui/menu.tsx'
import { Avatar, initialsOf, nameOf } from '../ui/people.tsx'
import { useStore } from '../ui/store.ts'

/** The menu of the logged-in user. */
export function AccountMenu() {
  const [, navigate] = useLocation()
  const { user } = useStore(session)
  if (!user) return null
  return (
    <Menu
      // Starts with the visible initials, so that speech input finds it (WCAG 2.5.3).
      label={`${initialsOf(user)}, account of ${nameOf(user)}`}
      className="account-button"
      items={[
        { label: 'Settings', icon: 'settings', onSelect: () => navigate('/settings') },
        { label: 'Keyboard shortcuts', icon: 'keyboard', keys: '?', onSelect: openShortcuts },
        { label: 'Accessibility', icon: 'eye', onSelect: () => navigate('/accessibility') },
        undefined,
        { label: 'Log out', icon: 'out', onSelect: () => void logOut() },
      ]}
    >
      <Avatar person={user} />
    </Menu>
  )
}
