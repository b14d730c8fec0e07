import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'

/** The parser also lets addresses of chats through, which open other programs. */
const allowed = /^(https?|mailto):/i
const hasOwnScheme = /^[a-z][a-z0-9+.-]*:/i
const extensions = [gfm()]
const htmlExtensions = [gfmHtml()]

/**
 * Markdown as HTML in which nothing of the writer's is HTML: raw tags are text, addresses that could run something are
 * dropped. Nothing is loaded from elsewhere because somebody looks at a card, so a picture is a link to it.
 */
export function markdownHtml(text: string): string {
  let isInLink = false
  // The parser escapes `<`, `>` and `"` wherever a writer could put them: what looks like a tag here is one of its own.
  return micromark(text, { extensions, htmlExtensions }).replace(/<(\/?a|img|input)\b[^>]*>/g, (tag, name: string) => {
    const address = /(?:href|src)="([^"]*)"/.exec(tag)?.[1]
    const href = address && hasOwnScheme.test(address) && !allowed.test(address) ? '' : address
    if (name === 'input')
      return tag.replace('<input', `<input aria-label="${tag.includes('checked') ? 'Done' : 'To do'}"`)
    if (name === '/a') {
      isInLink = false
      return tag
    }
    if (name === 'img') {
      const alt = /alt="([^"]*)"/.exec(tag)?.[1] || href || ''
      return href && !isInLink ? `${linkTo(href)}${alt}</a>` : alt
    }
    isInLink = true
    if (!href) return '<a>'
    // Links inside the text, as of footnotes, have more to say than where they lead.
    return href.startsWith('#') ? tag : linkTo(href)
  })
}

const linkTo = (href: string) => `<a href="${href}" target="_blank" rel="noopener noreferrer nofollow">`
