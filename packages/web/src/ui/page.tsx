import { type ReactNode, useEffect, useRef } from 'react'

let isFirst = true

/** Names the page, and tells those who listen where they are: the heading takes the focus, except on the first page. */
export function Heading({ title, children }: { title: string; children?: ReactNode }) {
  const ref = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Lockstep`
  }, [title])
  useEffect(() => {
    if (!isFirst) ref.current?.focus()
    isFirst = false
  }, [])
  return (
    <h1 ref={ref} tabIndex={-1}>
      {children ?? title}
    </h1>
  )
}

/** A page that has nothing but a sentence, and a way on. */
export function StatePage({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main id="main" className="state-page">
      <Mark />
      <Heading title={title} />
      {children}
    </main>
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
