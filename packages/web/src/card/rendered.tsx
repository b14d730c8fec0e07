import { lazy, Suspense } from 'react'
import { Boundary } from '../ui/boundary.tsx'
import { hasLongWord, isRenderable } from './markdown-limits.ts'

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

/** A text in Markdown as it is read; as it was written until the parser is there, or when it would take too long. */
export const Rendered = ({ text }: RenderedProps) =>
  hasLongWord(text) ? (
    <div className="is-unkerned">
      <Readable text={text} />
    </div>
  ) : (
    <Readable text={text} />
  )

const Readable = ({ text }: RenderedProps) =>
  isRenderable(text) ? (
    <Boundary key={text} fallback={<Plain text={text} />}>
      <Suspense fallback={<Plain text={text} />}>
        <Markdown text={text} />
      </Suspense>
    </Boundary>
  ) : (
    <Plain text={text} />
  )
