import { useMemo } from 'react'
import { trustedHtml } from '../ui/trusted.ts'
import { markdownHtml } from './markdown-html.ts'

export function Markdown({ text }: { text: string }) {
  const __html = useMemo(() => trustedHtml(markdownHtml(text)), [text])
  // biome-ignore lint/security/noDangerouslySetInnerHtml: markdownHtml lets nothing through that is not its own
  return <div className="cd-markdown" dangerouslySetInnerHTML={{ __html }} />
}
