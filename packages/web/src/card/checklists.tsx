import type { Card } from '@lockstep/client'
import { type RefObject, useEffect, useRef } from 'react'
import { useTools } from '../board/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { ChecklistBlock } from './checklist.tsx'
import { NewText } from './new-text.tsx'

interface ChecklistsProps {
  card: Card
  /** Whether the name of a new one is being written. */
  is_adding: boolean
  setAdding: (is_adding: boolean) => void
}

export function Checklists({ card, is_adding, setAdding }: ChecklistsProps) {
  const tools = useTools()
  const input = useRef<HTMLInputElement>(null)
  const made = useRef<string>(undefined)
  useEffect(() => {
    if (is_adding) input.current?.focus()
  }, [is_adding])
  const add = (title: string) => {
    made.current = tools.change('createChecklist', { card_id: card.id, title }).id
    announce(`Checklist “${title}” added.`)
    setAdding(false)
  }
  return (
    <>
      {card.checklists.map((checklist) => (
        <ChecklistBlock key={checklist.id} card={card} checklist={checklist} newest={made as RefObject<string>} />
      ))}
      {is_adding && (
        <section className="cd-section" aria-label="New checklist">
          <NewText
            id={card.id}
            field="new-checklist"
            label="Name of the new checklist"
            max={255}
            input={input}
            onAdd={add}
            onEscape={() => setAdding(false)}
          />
        </section>
      )}
    </>
  )
}
