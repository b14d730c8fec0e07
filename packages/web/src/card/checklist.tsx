import type { Card, Checklist } from '@lockstep/client'
import { type RefObject, useEffect, useRef } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { ChecklistItemRow } from './checklist-item.tsx'
import { removeChecklist, stepChecklist } from './checklist-moves.ts'
import { EditableText } from './editable-text.tsx'
import { t } from './messages.ts'
import { NewTextField } from './new-text-field.tsx'

interface ChecklistBlockProps {
  card: Card
  checklist: Checklist
  /** The id of a checklist that was just created here: its item field takes the focus. */
  newest: RefObject<string | undefined>
}

export function ChecklistBlock({ card, checklist, newest }: ChecklistBlockProps) {
  const tools = useTools()
  const { id, title, items } = checklist
  const name = useRef<HTMLButtonElement>(null)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (newest.current !== id) return
    newest.current = undefined
    input.current?.focus()
  }, [id, newest])
  const done = items.filter(({ is_done }) => is_done).length
  const at = card.checklists.findIndex((each) => each.id === id)
  const add = (content: string) => {
    tools.change('createItem', { checklist_id: id, content })
    announce(t.addedItem({ content }))
  }
  return (
    <section className="cd-section" aria-label={t.checklist({ title })} tabIndex={-1}>
      <div className="cd-section-head">
        <Icon name="list" />
        <h3>
          <EditableText
            id={id}
            field="title"
            label={t.checklistName}
            className="cd-checklist-title"
            value={title}
            max={255}
            button={name}
            onSave={(text) => tools.change('updateChecklist', { checklist_id: id, title: text })}
          />
        </h3>
        <span className="spacer" />
        <span className="cd-count">{t.doneOf({ done, total: items.length })}</span>
        <Menu
          label={t.actionsFor({ name: title })}
          items={[
            { label: t.rename, icon: 'edit', onSelect: () => name.current?.click() },
            { label: t.moveUp, isDisabled: at === 0, onSelect: () => stepChecklist(tools, card, checklist, -1) },
            {
              label: t.moveDown,
              isDisabled: at === card.checklists.length - 1,
              onSelect: () => stepChecklist(tools, card, checklist, 1),
            },
            undefined,
            { label: t.delete, icon: 'trash', isDanger: true, onSelect: () => removeChecklist(tools, checklist) },
          ]}
        >
          <Icon name="more" />
        </Menu>
      </div>
      {items.length > 0 && (
        <span className="meter cd-meter" aria-hidden="true">
          <b style={{ inlineSize: `${(done / items.length) * 100}%` }} />
        </span>
      )}
      <ul className="cd-items">
        {items.map((item) => (
          <ChecklistItemRow key={item.id} card={card} checklist={checklist} item={item} />
        ))}
      </ul>
      <NewTextField id={id} field="new-item" label={t.addItem} max={2_000} input={input} onAdd={add} />
    </section>
  )
}
