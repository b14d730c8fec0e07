import type { Card } from '@lockstep/client'
import { type RefObject, useEffect, useRef } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { ChecklistBlock } from './checklist.tsx'
import { t } from './messages.ts'
import { NewTextField } from './new-text-field.tsx'

interface ChecklistsProps {
  card: Card
  /** Whether the field for a new checklist is open. */
  isAdding: boolean
  setAdding: (isAdding: boolean) => void
}

export function Checklists({ card, isAdding, setAdding }: ChecklistsProps) {
  const tools = useTools()
  const input = useRef<HTMLInputElement>(null)
  const made = useRef<string>(undefined)
  useEffect(() => {
    if (isAdding) input.current?.focus()
  }, [isAdding])
  const add = (title: string) => {
    made.current = tools.change('createChecklist', { card_id: card.id, title }).id
    announce(t.addedChecklist({ title }))
    setAdding(false)
  }
  return (
    <>
      {card.checklists.map((checklist) => (
        <ChecklistBlock key={checklist.id} card={card} checklist={checklist} newest={made as RefObject<string>} />
      ))}
      {isAdding && (
        <section className="cd-section" aria-label={t.newChecklist}>
          <NewTextField
            id={card.id}
            field="new-checklist"
            label={t.newChecklistName}
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
