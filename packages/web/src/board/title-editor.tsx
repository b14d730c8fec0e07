import type { Card } from '@lockstep/client'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { keepDraft, readDraft, useDraftName } from '../card/drafts.ts'
import { saveTitle } from '../card/save-title.ts'
import { showToast } from '../ui/toasts.tsx'
import { TooLong, tooLong } from '../ui/too-long.tsx'
import { useTools } from './board-tools.ts'

/**
 * The title of a card, in its place. Enter and leaving save what was typed; Escape cancels. What was typed when the page is
 * reloaded, or the field is left with a title that is too long, is a draft with which the field begins the next time.
 */
export function TitleEditor({ card }: { card: Card }) {
  const tools = useTools()
  const draft_name = useDraftName(card.id, 'title')
  const [base] = useState(card.title)
  const [title, setTitle] = useState(() => readDraft(draft_name)?.text ?? card.title)
  const field = useRef<HTMLTextAreaElement>(null)
  const isOver = useRef(false)
  useEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [])
  const write = (text: string) => {
    setTitle(text)
    keepDraft(draft_name, text.trim() && text !== base ? { text, base } : undefined)
  }
  const isChanged = title.trim() !== '' && title.trim() !== base
  const finish = (isSaved: boolean) => {
    if (isOver.current) return
    isOver.current = true
    tools.renaming.set(undefined)
    // Whoever only looked must not undo what others wrote meanwhile.
    if (!isChanged || !isSaved) keepDraft(draft_name, undefined)
    else if (!tooLong(title)) void saveTitle(tools, card.id, draft_name, title.trim(), base)
    else showToast('What you typed is kept', { label: 'Discard', run: () => keepDraft(draft_name, undefined) })
  }
  const steer = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || (event.key !== 'Enter' && event.key !== 'Escape')) return
    event.preventDefault()
    if (event.key === 'Enter' && tooLong(title)) return
    finish(event.key === 'Enter')
    tools.focusCard(card.id)
  }
  return (
    <>
      <textarea
        ref={field}
        className="card-title-field"
        aria-label="Title"
        value={title}
        rows={2}
        onChange={(event) => write(event.target.value.replaceAll('\n', ' '))}
        onKeyDown={steer}
        onBlur={() => finish(true)}
      />
      <TooLong text={title} />
    </>
  )
}
