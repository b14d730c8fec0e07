import { type ReactNode, useEffect, useState } from 'react'
import { Link } from 'wouter'
import { Heading, Mark } from '../ui/page.tsx'
import { serverLimits } from '../ui/server-limits.ts'
import { t } from './messages.ts'
import './account.css'

/** Layout of the login and registration pages. */
export function AccountFrame({ title, children }: { title: string; children: ReactNode }) {
  const [hasApiDocs, setHasApiDocs] = useState(true)
  useEffect(() => void serverLimits().then((limits) => setHasApiDocs(limits?.has_api_docs ?? true)), [])
  return (
    <div className="account">
      <header className="account-brand">
        <Mark /> {t.brand}
      </header>
      <main id="main" className="account-main">
        <Heading title={title} />
        {children}
      </main>
      <footer className="account-foot">
        <Link href="/accessibility">{t.accessibility}</Link>
        {hasApiDocs && <a href="/docs">{t.api}</a>}
      </footer>
    </div>
  )
}
