import { useMemo } from 'react'
import { makePolicy } from '../ui/trusted.ts'
import { markdownHtml } from './markdown-html.ts'

/** The policy takes Markdown, not HTML: tags in the input come out as text. */
const policy = makePolicy('lockstep-markdown', { createHTML: markdownHtml })

export function Markdown({ text }: { text: string }) {
  const __html = useMemo(() => policy.createHTML(text), [text])
  // biome-ignore lint/security/noDangerouslySetInnerHtml: markdownHtml escapes all HTML of the input
  return <div className="cd-markdown" dangerouslySetInnerHTML={{ __html }} />
}
