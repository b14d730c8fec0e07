import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { Heading, Mark } from '../ui/page.tsx'
import './account.css'

/** Layout of the login and registration pages. */
export function AccountFrame({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="account">
      <header className="account-brand">
        <Mark /> Lockstep
      </header>
      <main id="main" className="account-main">
        <Heading title={title} />
        {children}
      </main>
      <footer className="account-foot">
        <Link href="/accessibility">Accessibility</Link>
        <a href="/docs">API</a>
      </footer>
    </div>
  )
}
