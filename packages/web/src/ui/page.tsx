import { type ReactNode, useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { t } from './messages.ts'
import { setTitle } from './title.ts'

let isFirst = true

/**
 * Sets the page title. The heading takes the focus after a navigation, so that screen readers announce the new page, and when the
 * page has started again because of a login.
 */
export function Heading({ title, children }: { title: string; children?: ReactNode }) {
  const ref = useRef<HTMLHeadingElement>(null)
  useEffect(() => setTitle(title), [title])
  useEffect(() => {
    if (!isFirst || (history.state as { isAfterLogin?: boolean } | null)?.isAfterLogin) ref.current?.focus()
    isFirst = false
  }, [])
  return (
    <h1 ref={ref} tabIndex={-1} dir="auto">
      {children ?? title}
    </h1>
  )
}

interface StatePageProps {
  title: string
  children: ReactNode
  /** Header actions, for a logged-in user. */
  actions?: ReactNode
}

/** A page with a short message and a link. */
export function StatePage({ title, children, actions }: StatePageProps) {
  return (
    <>
      {actions && (
        <header className="top">
          <Link href="/boards" className="top-home" aria-label={t.yourBoards}>
            <Mark />
          </Link>
          <span className="spacer" />
          {actions}
        </header>
      )}
      <main id="main" className="state-page">
        {!actions && <Mark />}
        <Heading title={title} />
        {children}
      </main>
    </>
  )
}

export function Mark() {
  return (
    <span className="mark" aria-hidden="true">
      <i />
      <i />
      <i />
    </span>
  )
}
