import { lazy, Suspense } from 'react'
import { Boundary } from '../ui/boundary.tsx'
import type { MarkdownProps } from './markdown.tsx'
import { hasLongWord, isRenderable } from './markdown-limits.ts'

const Plain = ({ text }: MarkdownProps) => (
  <div className="cd-markdown is-plain" dir="auto">
    {text}
  </div>
)

/** Loaded at once, to be ready when the card opens. Offline it may fail; then the text is plain. */
const loading = import('./markdown.tsx').then(
  ({ Markdown }) => Markdown,
  () => Plain,
)
const Markdown = lazy(async () => ({ default: await loading }))

/** Renders Markdown. Shows plain text until the parser is loaded, or if parsing would take too long. */
export const RenderedText = (props: MarkdownProps) =>
  hasLongWord(props.text) ? (
    <div className="is-unkerned">
      <Readable {...props} />
    </div>
  ) : (
    <Readable {...props} />
  )

const Readable = (props: MarkdownProps) =>
  isRenderable(props.text) ? (
    <Boundary key={props.text} fallback={<Plain {...props} />}>
      <Suspense fallback={<Plain {...props} />}>
        <Markdown {...props} />
      </Suspense>
    </Boundary>
  ) : (
    <Plain {...props} />
  )
