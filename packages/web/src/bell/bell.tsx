import { useEffect } from 'react'
import { Link } from 'wouter'
import { session } from '../session.ts'
import { Icon } from '../ui/icon.tsx'
import { useStore } from '../ui/store.ts'
import { setTitleCount } from '../ui/title.ts'
import { t } from './messages.ts'
import { usePolling, useUnread } from './unread.ts'
import './bell.css'

/** The link to the inbox in the header of every page, with the number of unread items. */
export function Bell() {
  return useStore(session).user ? <CountingBell /> : null
}

function CountingBell() {
  usePolling()
  const { count } = useUnread()
  useEffect(() => {
    setTitleCount(count)
    return () => setTitleCount(0)
  }, [count])
  const shown = count > 99 ? '99+' : `${count}`
  const label = count > 0 ? t.inboxUnread({ count: shown }) : t.inbox
  return (
    <Link href="/inbox" className="icon-button bell" aria-label={label} title={label} aria-keyshortcuts="g i">
      <Icon name="bell" />
      {count > 0 && <span className="bell-count">{shown}</span>}
    </Link>
  )
}
