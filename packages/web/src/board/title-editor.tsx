import type { Card } from '@lockstep/client'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { readDraft, useDraftName, writeDraft } from '../card/drafts.ts'
import { saveTitle } from '../card/save-title.ts'
import { showToast } from '../ui/toasts.ts'
import { TooLong, tooLong } from '../ui/too-long.tsx'
import { t } from './messages.ts'

/**
 * Edits a card's title in place. Enter and blur save, Escape cancels. After a reload, or after leaving the field with a title
 * that is too long, the text is kept as a draft and restored the next time.
 */
export function TitleEditor({ card }: { card: Card }) {
  const tools = useTools()
  const draftName = useDraftName(card.id, 'title')
  const [base] = useState(card.title)
  const [title, setTitle] = useState(() => readDraft(draftName)?.text ?? card.title)
  const field = useRef<HTMLTextAreaElement>(null)
  const isFinished = useRef(false)
  useEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [])
  const write = (text: string) => {
    setTitle(text)
    writeDraft(draftName, text.trim() && text !== base ? { text, base } : undefined)
  }
  const isChanged = title.trim() !== '' && title.trim() !== base
  const finish = (isSaved: boolean) => {
    if (isFinished.current) return
    isFinished.current = true
    tools.renaming.set(undefined)
    // An unchanged title must not overwrite a change by another user.
    if (!isChanged || !isSaved) writeDraft(draftName, undefined)
    else if (!tooLong(title)) void saveTitle(tools, card.id, draftName, title.trim(), base)
    else showToast(t.draftSaved, { label: t.discard, run: () => writeDraft(draftName, undefined) })
  }
  const handleKey = (event: KeyboardEvent) => {
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
        dir="auto"
        aria-label={t.title}
        value={title}
        rows={2}
        onChange={(event) => write(event.target.value.replaceAll('\n', ' '))}
        onKeyDown={handleKey}
        onBlur={() => finish(true)}
      />
      <TooLong text={title} />
    </>
  )
}
