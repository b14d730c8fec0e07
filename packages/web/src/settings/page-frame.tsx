import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { Bell } from '../bell/bell.tsx'
import { Heading, Mark } from '../ui/page.tsx'
import { AccountMenu } from './account-menu.tsx'
import { t } from './messages.ts'
import './settings.css'

/** Layout of a text page, with a link back to the boards. */
export function PageFrame({ title, children }: { title: string; children: ReactNode }) {
  return (
    <>
      <header className="top">
        <Link href="/boards" className="top-home">
          <Mark /> {t.boards}
        </Link>
        <Heading title={title} />
        <span className="spacer" />
        <Bell />
        <AccountMenu />
      </header>
      <main id="main" className="sheet-page">
        <div className="sheet-page-text">{children}</div>
      </main>
    </>
  )
}
