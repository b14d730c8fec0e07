import type { Card, Checklist, ChecklistItem } from '@lockstep/client'
import { useRef, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { isWriting } from '../ui/keys.tsx'
import { Menu } from '../ui/menu.tsx'
import { Avatars } from '../ui/people.tsx'
import { AssigneePicker } from './assignee-picker.tsx'
import { moveToChecklist, removeItem, stepItem } from './checklist-moves.ts'
import { EditableText } from './editable-text.tsx'

interface ItemRowProps {
  card: Card
  checklist: Checklist
  item: ChecklistItem
}

export function ChecklistItemRow({ card, checklist, item }: ItemRowProps) {
  const tools = useTools()
  const text = useRef<HTMLButtonElement>(null)
  const [isAssigning, setAssigning] = useState(false)
  const { id, content, is_done, assignees } = item
  const at = checklist.items.findIndex((each) => each.id === id)
  const others = card.checklists.filter((each) => each.id !== checklist.id)
  return (
    <li
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
          label="Item"
          className="cd-item-content"
          value={content}
          max={2_000}
          button={text}
          onSave={(next) => tools.change('updateItem', { item_id: id, content: next })}
        />
      </span>
      <Avatars people={assignees} label="Assigned" most={3} />
      <Menu
        label={`Actions for ${content}`}
        items={[
          { label: 'Edit', icon: 'edit', onSelect: () => text.current?.click() },
          { label: 'Assign…', icon: 'users', onSelect: () => setAssigning(true) },
          {
            label: 'Move up',
            keys: 'Shift ↑',
            isDisabled: at === 0,
            onSelect: () => stepItem(tools, checklist, item, -1),
          },
          {
            label: 'Move down',
            keys: 'Shift ↓',
            isDisabled: at === checklist.items.length - 1,
            onSelect: () => stepItem(tools, checklist, item, 1),
          },
          ...others.map((to) => ({
            label: `Move to “${to.title}”`,
            onSelect: () => moveToChecklist(tools, item, to),
          })),
          undefined,
          { label: 'Delete', icon: 'trash' as const, isDanger: true, onSelect: () => removeItem(tools, item) },
        ]}
      >
        <Icon name="more" />
      </Menu>
      {isAssigning && <ItemAssignees item={item} onClose={() => setAssigning(false)} />}
    </li>
  )
}

function ItemAssignees({ item: { id: item_id, assignees }, onClose }: { item: ChecklistItem; onClose: () => void }) {
  const { change } = useTools()
  return (
    <Dialog title="Assign" size="small" onClose={onClose}>
      <div className="dialog-body">
        <AssigneePicker
          assignees={assignees}
          assign={(user_id) => change('assignItem', { item_id, user_ids: [user_id] })}
          unassign={(user_id) => change('unassignItem', { item_id, user_id })}
        />
      </div>
    </Dialog>
  )
}
