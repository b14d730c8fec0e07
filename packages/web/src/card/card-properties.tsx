import type { Card } from '@lockstep/client'
import { type ReactNode, useState } from 'react'
import type { CardLocation } from '../board-state/board-model.ts'
import { type OpenPicker, useTools } from '../board-state/board-tools.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { DueChip } from '../ui/due-chip.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Keys } from '../ui/keys.tsx'
import { tinted } from '../ui/people.tsx'
import { Popover } from '../ui/popover.tsx'
import { useStorePart } from '../ui/store.ts'
import { PersonName } from './assignee-picker.tsx'
import { CardPicker } from './card-picker.tsx'
import { t } from './messages.ts'
import { MoveForm } from './move-form.tsx'
import { isFocusInPopover } from './restore-focus.ts'

/** Column, due date, labels and assignees of a card. Each row opens its picker. */
export function CardProperties({ found: { card, column } }: { found: CardLocation }) {
  const tools = useTools()
  const shown = useShownBoard().shownIn(column)
  const at = shown.findIndex(({ id }) => id === card.id)
  const isMine = card.assignees.some(({ id }) => id === tools.me.id)
  return (
    <div className="cd-properties">
      <PropertyRow what="move" card={card} icon="swap" label={t.column} keys="M">
        <span className="cd-place">
          <span className="dot" style={tinted(column.color)} />
          <span dir="auto">{column.title}</span>
        </span>
        <span className="cd-quiet">
          {at < 0 ? t.hiddenByFilter : t.positionOf({ position: at + 1, total: shown.length })}
        </span>
      </PropertyRow>
      <PropertyRow what="due" card={card} icon="calendar" label={t.dueDate} keys="D">
        {card.due_on ? (
          <DueChip due_on={card.due_on} isDone={column.is_done_column} />
        ) : (
          <span className="cd-quiet">{t.none}</span>
        )}
      </PropertyRow>
      <PropertyRow what="labels" card={card} icon="tag" label={t.labels} keys="L">
        {card.labels.length === 0 && <span className="cd-quiet">{t.none}</span>}
        {card.labels.map((label) => (
          <span key={label.id} className="tag" style={tinted(label.color)} dir="auto">
            {label.name}
          </span>
        ))}
      </PropertyRow>
      <PropertyRow what="assignees" card={card} icon="users" label={t.assignees} keys="A">
        {card.assignees.length === 0 && <span className="cd-quiet">{t.none}</span>}
        {card.assignees.map((user) => (
          <span key={user.id} className="cd-person">
            <PersonName user={user} />
          </span>
        ))}
      </PropertyRow>
      {!isMine && (
        <button
          type="button"
          className="cd-action"
          onClick={({ currentTarget }) => {
            // This button disappears; focus the row above.
            const row = currentTarget.previousElementSibling as HTMLElement | null
            row?.focus()
            tools.toggleMe(card.id)
          }}
        >
          <Icon name="user" />
          {t.assignMe}
        </button>
      )}
    </div>
  )
}

interface PropertyRowProps {
  what: OpenPicker['what']
  card: Card
  icon: IconName
  label: string
  keys: string
  children: ReactNode
}

/** A property with its value. The whole row is a button. */
function PropertyRow({ what, card, icon, label, keys, children }: PropertyRowProps) {
  const tools = useTools()
  const [row, setRow] = useState<HTMLButtonElement | null>(null)
  const isOpen = useStorePart(tools.picker, (picker) => picker?.what === what && picker.card_id === card.id)
  const close = () => {
    tools.picker.set(undefined)
    if (isFocusInPopover()) row?.focus()
  }
  const move = () => {
    tools.picker.set(undefined)
    // After the board has focused the moved card.
    requestAnimationFrame(() => row?.focus())
  }
  return (
    <>
      <button
        ref={setRow}
        type="button"
        className="cd-property"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => (isOpen ? close() : tools.picker.set({ what, card_id: card.id }))}
      >
        <Icon name={icon} />
        <span className="cd-property-name">{label}</span>
        <span className="cd-property-value">{children}</span>
        <Keys keys={keys} />
      </button>
      {isOpen && row && what !== 'move' && <CardPicker what={what} card={card} anchor={row} onClose={close} />}
      {isOpen && row && what === 'move' && (
        <Popover label={t.moveCard({ title: card.title })} anchor={row} onClose={close}>
          <MoveForm card_id={card.id} onCancel={close} onMove={move} />
        </Popover>
      )}
    </>
  )
}
