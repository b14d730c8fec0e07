import type { Card } from '@lockstep/client'
import { type FormEvent, useRef, useState } from 'react'
import { announce } from '../ui/announcer.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { tinted } from '../ui/people.tsx'
import { useStore } from '../ui/store.ts'
import { AssigneePicker, cardAssignees } from './assignee-picker.tsx'
import { useTools } from './board-tools.ts'
import { MoveDialog } from './move-dialog.tsx'

/** What keys and menus have opened over the board. */
export function AskingDialogs() {
  const tools = useTools()
  const asking = useStore(tools.asking)
  const card = tools.find(asking?.card_id)?.card
  if (!asking || !card) return null
  const close = () => {
    tools.asking.set(undefined)
    tools.focusCard(card.id)
  }
  if (asking.what === 'move') return <MoveDialog card_id={card.id} />
  return (
    <Dialog
      title={`${asking.what === 'labels' ? 'Labels of' : 'Who does'} “${card.title}”`}
      size="small"
      onClose={close}
    >
      <div className="dialog-body">
        {asking.what === 'labels' ? <LabelPicker card={card} /> : <AssigneePicker {...cardAssignees(tools, card)} />}
      </div>
    </Dialog>
  )
}

export const labelColors = ['#d33a2c', '#c98a00', '#0b8f5a', '#2f6fcc', '#8455c9', '#c23a86']

/** The labels of the board, those of the card ticked. What is not there yet is made by its name. */
export function LabelPicker({ card }: { card: Card }) {
  const tools = useTools()
  const [text, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const { labels } = tools.view
  const found = labels.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()))
  const isNew = text.trim() !== '' && labels.every(({ name }) => name.toLowerCase() !== text.trim().toLowerCase())
  const toggle = (label_id: string, name: string) => {
    const isOn = card.labels.some(({ id }) => id === label_id)
    tools.change(isOn ? 'removeCardLabel' : 'addCardLabel', { card_id: card.id, label_id })
    announce(`Label “${name}” ${isOn ? 'removed' : 'added'}.`)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const first = found[0]
    if (isNew) {
      const name = text.trim()
      const color = labelColors[labels.length % labelColors.length] as string
      const { id } = tools.change('createLabel', { name, color })
      toggle(id, name)
    } else if (first) toggle(first.id, first.name)
    setText('')
    // The button that makes a label goes with its name.
    field.current?.focus()
  }
  return (
    <form className="picker" onSubmit={submit}>
      <input
        ref={field}
        className="input"
        aria-label="Find or create a label"
        placeholder="Find or create a label"
        value={text}
        maxLength={50}
        onChange={(event) => setText(event.target.value)}
      />
      <ul>
        {found.map((label) => (
          <li key={label.id}>
            <label className="check">
              <input
                type="checkbox"
                checked={card.labels.some(({ id }) => id === label.id)}
                onChange={() => toggle(label.id, label.name)}
              />
              <span className="tag" style={tinted(label.color)}>
                {label.name}
              </span>
            </label>
          </li>
        ))}
      </ul>
      {isNew && (
        <button type="submit" className="button">
          Create “{text.trim()}”
        </button>
      )}
      {labels.length === 0 && !isNew && <p className="hint">No labels yet. Type a name to make the first one.</p>}
    </form>
  )
}
