import { lazy, Suspense } from 'react'
import { Boundary } from '../ui/boundary.tsx'

interface RenderedProps {
  text: string
}

const Plain = ({ text }: RenderedProps) => <div className="cd-markdown is-plain">{text}</div>

/** Begun at once, so that it is there when the card is. Without a network it may not come at all. */
const loading = import('./markdown.tsx').then(
  ({ Markdown }) => Markdown,
  () => Plain,
)
const Markdown = lazy(async () => ({ default: await loading }))

/** A text in Markdown as it is read; as it was written until the parser is there. */
export const Rendered = ({ text }: RenderedProps) => (
  <Boundary key={text} fallback={<Plain text={text} />}>
    <Suspense fallback={<Plain text={text} />}>
      <Markdown text={text} />
    </Suspense>
  </Boundary>
)
