import { useMemo } from 'react'
import { makePolicy } from '../ui/trusted.ts'
import { markdownHtml } from './markdown-html.ts'

/** Takes Markdown, not HTML: whatever is given to it, tags in it come out as text. */
const policy = makePolicy('lockstep-markdown', { createHTML: markdownHtml })

export function Markdown({ text }: { text: string }) {
  const __html = useMemo(() => policy.createHTML(text), [text])
  // biome-ignore lint/security/noDangerouslySetInnerHtml: markdownHtml lets nothing through that is not its own
  return <div className="cd-markdown" dangerouslySetInnerHTML={{ __html }} />
}
