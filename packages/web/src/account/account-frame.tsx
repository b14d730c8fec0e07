import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { Heading, Mark } from '../ui/page.tsx'
import { t } from './messages.ts'
import './account.css'

/** Layout of the login and registration pages. */
export function AccountFrame({ title, children }: { title: string; children: ReactNode }) {
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
        <a href="/docs">{t.api}</a>
      </footer>
    </div>
  )
}
