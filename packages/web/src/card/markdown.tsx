import { useMemo } from 'react'
import { makePolicy } from '../ui/trusted.ts'
import { type MarkdownOptions, markdownHtml } from './markdown-html.ts'

/** The policy takes Markdown, not HTML: tags in the input come out as text. */
const policy = makePolicy('lockstep-markdown', { createHTML: markdownHtml })

export interface MarkdownProps extends MarkdownOptions {
  text: string
}

export function Markdown({ text, images, canTick }: MarkdownProps) {
  const __html = useMemo(() => policy.createHTML(text, { images, canTick }), [text, images, canTick])
  // biome-ignore lint/security/noDangerouslySetInnerHtml: markdownHtml escapes all HTML of the input
  return <div className="cd-markdown" dir="auto" dangerouslySetInnerHTML={{ __html }} />
}
