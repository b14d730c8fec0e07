import type { Card, Label } from '@lockstep/client'
import { type FormEvent, type KeyboardEvent, useRef, useState } from 'react'
import { announce } from '../ui/announcer.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { tinted } from '../ui/people.tsx'
import { useStore } from '../ui/store.ts'
import { tooLong } from '../ui/too-long.tsx'
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
        {asking.what === 'labels' ? (
          <LabelPicker card={card} onDone={close} />
        ) : (
          <AssigneePicker {...cardAssignees(tools, card)} />
        )}
      </div>
    </Dialog>
  )
}

const MAX_LABEL = 50
export const labelColors = ['#d33a2c', '#c98a00', '#0b8f5a', '#2f6fcc', '#8455c9', '#c23a86']

/** How well a name fits what was typed: whole, from its beginning, or somewhere; -1 if not at all. */
function fitOf(name: string, text: string): number {
  const at = name.toLowerCase().indexOf(text)
  return at < 0 ? -1 : name.length === text.length ? 2 : at === 0 ? 1 : 0
}

/**
 * The labels of the board, those of the card ticked. Enter takes the first row that fits what was typed; the last row creates
 * a label of that name. The arrows lead through the rows, and Enter in the empty field closes the picker.
 */
export function LabelPicker({ card, onDone }: { card: Card; onDone: () => void }) {
  const tools = useTools()
  const [text, setText] = useState('')
  const form = useRef<HTMLFormElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const { labels } = tools.view
  const name = text.trim()
  const fit = (label: Label) => fitOf(label.name, name.toLowerCase())
  const found = labels.filter((label) => fit(label) >= 0).toSorted((one, other) => fit(other) - fit(one))
  const isNew = name !== '' && labels.every((label) => fit(label) < 2)
  const has = (label_id: string) => card.labels.some(({ id }) => id === label_id)
  const toggle = (label_id: string, label_name: string) => {
    const isOn = has(label_id)
    tools.change(isOn ? 'removeCardLabel' : 'addCardLabel', { card_id: card.id, label_id })
    announce(`Label “${label_name}” ${isOn ? 'removed' : 'added'}.`)
  }
  const clear = () => {
    setText('')
    // The row that creates a label goes with its name.
    field.current?.focus()
  }
  const create = () => {
    if (tooLong(name, MAX_LABEL)) return
    const color = labelColors[labels.length % labelColors.length] as string
    toggle(tools.change('createLabel', { name, color }).id, name)
    clear()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const [first] = found
    if (!name) return onDone()
    if (!first) return create()
    toggle(first.id, first.name)
    clear()
  }
  const steer = (event: KeyboardEvent) => {
    const rows = [...(form.current?.querySelectorAll<HTMLElement>('ul :is(input, button)') ?? [])]
    // In the field, Enter takes the first row: the arrows go on from there.
    const inField = name ? 0 : -1
    const at = event.target === field.current ? inField : rows.indexOf(event.target as HTMLElement)
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) (rows[at + step] ?? (step < 0 ? field.current : undefined))?.focus()
    // Enter in a checkbox would submit the form.
    else if (event.key === 'Enter' && event.target !== field.current) rows[at]?.click()
    else return
    event.preventDefault()
  }
  return (
    <form ref={form} className="picker" onSubmit={submit} onKeyDown={steer}>
      <input
        ref={field}
        className="input"
        aria-label="Find or create a label"
        placeholder="Find or create a label"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <p className="hint" role="status">
        {(isNew && tooLong(name, MAX_LABEL)) ||
          (name &&
            `Enter ${found[0] ? (has(found[0].id) ? 'removes' : 'adds') : 'creates'} “${found[0]?.name ?? name}”.`)}
      </p>
      <ul className={name ? 'has-first' : undefined}>
        {found.map((label) => (
          <li key={label.id}>
            <label className="check">
              <input type="checkbox" checked={has(label.id)} onChange={() => toggle(label.id, label.name)} />
              <span className="tag" style={tinted(label.color)}>
                {label.name}
              </span>
            </label>
          </li>
        ))}
        {isNew && (
          <li>
            <button type="button" className="picker-create" onClick={create}>
              Create “{name}”
            </button>
          </li>
        )}
      </ul>
      {labels.length === 0 && !isNew && <p className="hint">No labels yet. Type a name to make the first one.</p>}
    </form>
  )
}
