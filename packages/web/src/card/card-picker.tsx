import type { Card } from '@lockstep/client'
import { useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useTools } from '../board-state/board-tools.ts'
import { Popover } from '../ui/popover.tsx'
import { AssigneePicker } from './assignee-picker.tsx'
import { DuePicker } from './due-picker.tsx'
import { LabelManager } from './label-manager.tsx'
import { LabelPicker } from './label-picker.tsx'
import { t } from './messages.ts'
import { activeDay } from './month-grid.tsx'

interface CardPickerProps {
  what: 'labels' | 'assignees' | 'due'
  card: Card
  anchor: Element | undefined
  onClose: () => void
}

/** Focus in the field would open the on-screen keyboard, which covers the calendar. */
const onTouch = { initialFocus: activeDay, mayCoverAnchor: true }
const names = { labels: t.labels, assignees: t.assign, due: t.dueDate }

/** The popover for the labels, the assignees or the due date of a card. */
export function CardPicker({ what, card, anchor, onClose }: CardPickerProps) {
  const tools = useTools()
  return (
    <Popover
      label={names[what]}
      anchor={anchor}
      onClose={onClose}
      {...(what === 'due' && matchMedia('(pointer: coarse)').matches && onTouch)}
    >
      {what === 'labels' && <Labels card={card} onClose={onClose} />}
      {what === 'due' && <DuePicker card={card} onDone={onClose} />}
      {what === 'assignees' && (
        <AssigneePicker
          assignees={card.assignees}
          assign={(user_id) => tools.change('assignCard', { card_id: card.id, user_ids: [user_id] })}
          unassign={(user_id) => tools.change('unassignCard', { card_id: card.id, user_id })}
          onDone={onClose}
        />
      )}
    </Popover>
  )
}

/** The label picker, and the label manager in its place. */
function Labels({ card, onClose }: { card: Card; onClose: () => void }) {
  const [isManaging, setManaging] = useState(false)
  const content = useRef<HTMLDivElement>(null)
  const show = (isManager: boolean) => {
    flushSync(() => setManaging(isManager))
    // The button that was pressed is gone.
    content.current?.querySelector<HTMLElement>('input, button')?.focus()
  }
  return (
    <div ref={content} className="label-popover">
      {isManaging ? (
        <LabelManager onBack={() => show(false)} onClose={onClose} />
      ) : (
        <LabelPicker card={card} onDone={onClose} onManage={() => show(true)} />
      )}
    </div>
  )
}
