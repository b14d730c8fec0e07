import { type MouseEvent, useMemo } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { makePolicy } from '../ui/trusted.ts'
import { type MarkdownOptions, markdownHtml } from './markdown-html.ts'
import { useLinkedCards } from './use-linked-cards.ts'
import { useMentionedPeople } from './use-mentioned-people.ts'

/** The policy takes Markdown, not HTML: tags in the input come out as text. */
const policy = makePolicy('lockstep-markdown', { createHTML: markdownHtml })

export interface MarkdownProps extends Pick<MarkdownOptions, 'images' | 'canTick'> {
  text: string
  /** Whether mentions of members are chips. */
  hasMentions?: boolean
}

export function Markdown({ text, images, canTick, hasMentions = false }: MarkdownProps) {
  const tools = useTools()
  const cards = useLinkedCards(text)
  const people = useMentionedPeople(text, hasMentions)
  const __html = useMemo(
    () => policy.createHTML(text, { cards, people, images, canTick }),
    [text, cards, people, images, canTick],
  )
  const click = (event: MouseEvent) => {
    const link = (event.target as Element).closest<HTMLElement>('.cd-card-link')
    // With a modifier the browser opens the link in a new tab or window.
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    const card = cards.get(Number(link.textContent.slice(1)))
    if (card) tools.openCard(card.id)
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: the links handle the keys
    // biome-ignore lint/security/noDangerouslySetInnerHtml: markdownHtml escapes all HTML of the input
    <div className="cd-markdown" dir="auto" onClick={click} dangerouslySetInnerHTML={{ __html }} />
  )
}
