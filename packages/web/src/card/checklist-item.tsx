import type { Card, Checklist, ChecklistItem } from '@lockstep/client'
import { useRef, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { Icon } from '../ui/icon.tsx'
import { isWriting } from '../ui/keys.tsx'
import { Menu } from '../ui/menu.tsx'
import { Avatars } from '../ui/people.tsx'
import { Popover } from '../ui/popover.tsx'
import { AssigneePicker } from './assignee-picker.tsx'
import { moveToChecklist, removeItem, stepItem } from './checklist-moves.ts'
import { EditableText } from './editable-text.tsx'
import { t } from './messages.ts'
import { isFocusInPopover } from './restore-focus.ts'

interface ItemRowProps {
  card: Card
  checklist: Checklist
  item: ChecklistItem
}

export function ChecklistItemRow({ card, checklist, item }: ItemRowProps) {
  const tools = useTools()
  const text = useRef<HTMLButtonElement>(null)
  const [row, setRow] = useState<HTMLLIElement | null>(null)
  const [isAssigning, setAssigning] = useState(false)
  const closeAssignees = () => {
    setAssigning(false)
    if (isFocusInPopover()) text.current?.focus()
  }
  const { id, content, is_done, assignees } = item
  const at = checklist.items.findIndex((each) => each.id === id)
  const others = card.checklists.filter((each) => each.id !== checklist.id)
  return (
    <li
      ref={setRow}
      className={`cd-item${is_done ? ' is-done' : ''}`}
      onKeyDown={(event) => {
        const step = { ArrowUp: -1, ArrowDown: 1 }[event.key] as -1 | 1 | undefined
        if (!step || !event.shiftKey || isWriting(event.target)) return
        event.preventDefault()
        stepItem(tools, checklist, item, step)
      }}
    >
      <label className="cd-tick">
        <input
          type="checkbox"
          aria-label={content}
          checked={is_done}
          onChange={(event) => tools.change('updateItem', { item_id: id, is_done: event.target.checked })}
        />
      </label>
      <span className="cd-item-text">
        <EditableText
          id={id}
          field="content"
          label={t.item}
          className="cd-item-content"
          value={content}
          max={2_000}
          button={text}
          onSave={(next) => tools.change('updateItem', { item_id: id, content: next })}
        />
      </span>
      <Avatars people={assignees} label={t.itemAssignees} most={3} />
      <Menu
        label={t.actionsFor({ name: content })}
        items={[
          { label: t.edit, icon: 'edit', onSelect: () => text.current?.click() },
          { label: t.assignMenu, icon: 'users', onSelect: () => setAssigning(true) },
          {
            label: t.moveUp,
            keys: 'Shift ↑',
            isDisabled: at === 0,
            onSelect: () => stepItem(tools, checklist, item, -1),
          },
          {
            label: t.moveDown,
            keys: 'Shift ↓',
            isDisabled: at === checklist.items.length - 1,
            onSelect: () => stepItem(tools, checklist, item, 1),
          },
          ...others.map((to) => ({
            label: t.moveToChecklist({ title: to.title }),
            onSelect: () => moveToChecklist(tools, item, to),
          })),
          undefined,
          { label: t.delete, icon: 'trash' as const, isDanger: true, onSelect: () => removeItem(tools, item) },
        ]}
      >
        <Icon name="more" />
      </Menu>
      {isAssigning && row && <ItemAssignees item={item} anchor={row} onClose={closeAssignees} />}
    </li>
  )
}

interface ItemAssigneesProps {
  item: ChecklistItem
  anchor: Element
  onClose: () => void
}

function ItemAssignees({ item: { id: item_id, assignees }, anchor, onClose }: ItemAssigneesProps) {
  const { change } = useTools()
  return (
    <Popover label={t.assign} anchor={anchor} onClose={onClose}>
      <AssigneePicker
        assignees={assignees}
        assign={(user_id) => change('assignItem', { item_id, user_ids: [user_id] })}
        unassign={(user_id) => change('unassignItem', { item_id, user_id })}
        onDone={onClose}
      />
    </Popover>
  )
}
