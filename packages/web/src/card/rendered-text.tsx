import { lazy, Suspense } from 'react'
import { Boundary } from '../ui/boundary.tsx'
import { hasLongWord, isRenderable } from './markdown-limits.ts'

interface RenderedTextProps {
  text: string
}

const Plain = ({ text }: RenderedTextProps) => <div className="cd-markdown is-plain">{text}</div>

/** Loaded at once, to be ready when the card opens. Offline it may fail; then the text is plain. */
const loading = import('./markdown.tsx').then(
  ({ Markdown }) => Markdown,
  () => Plain,
)
const Markdown = lazy(async () => ({ default: await loading }))

/** Renders Markdown. Shows plain text until the parser is loaded, or if parsing would take too long. */
export const RenderedText = ({ text }: RenderedTextProps) =>
  hasLongWord(text) ? (
    <div className="is-unkerned">
      <Readable text={text} />
    </div>
  ) : (
    <Readable text={text} />
  )

const Readable = ({ text }: RenderedTextProps) =>
  isRenderable(text) ? (
    <Boundary key={text} fallback={<Plain text={text} />}>
      <Suspense fallback={<Plain text={text} />}>
        <Markdown text={text} />
      </Suspense>
    </Boundary>
  ) : (
    <Plain text={text} />
  )
