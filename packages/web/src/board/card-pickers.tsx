import type { Card, Label } from '@lockstep/client'
import { type FormEvent, type KeyboardEvent, useRef, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { AssigneePicker, cardAssignees } from '../card/assignee-picker.tsx'
import { announce } from '../ui/announcer.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { tinted } from '../ui/people.tsx'
import { useStore } from '../ui/store.ts'
import { tooLong } from '../ui/too-long.tsx'
import { MoveDialog } from './move-dialog.tsx'

/** The picker dialog that is open for a card. */
export function CardPickers() {
  const tools = useTools()
  const picker = useStore(tools.picker)
  const card = tools.find(picker?.card_id)?.card
  if (!picker || !card) return null
  const close = () => {
    tools.picker.set(undefined)
    tools.focusCard(card.id)
  }
  if (picker.what === 'move') return <MoveDialog card_id={card.id} />
  return (
    <Dialog title={picker.what === 'labels' ? 'Labels' : 'Assign'} size="small" onClose={close}>
      <div className="dialog-body">
        {picker.what === 'labels' ? (
          <LabelPicker card={card} onDone={close} />
        ) : (
          <AssigneePicker {...cardAssignees(tools, card)} />
        )}
      </div>
    </Dialog>
  )
}

const MAX_LABEL_LENGTH = 50
export const labelColors = ['#d33a2c', '#c98a00', '#0b8f5a', '#2f6fcc', '#8455c9', '#c23a86']

/** Match score of a name: 2 equal, 1 prefix, 0 substring, -1 no match. */
function matchScore(name: string, text: string): number {
  const at = name.toLowerCase().indexOf(text)
  return at < 0 ? -1 : name.length === text.length ? 2 : at === 0 ? 1 : 0
}

/**
 * The labels of the board, with those of the card checked. Enter toggles the first match; the last row creates a new label.
 * Arrow keys move between the rows, and Enter in the empty field closes the picker.
 */
export function LabelPicker({ card, onDone }: { card: Card; onDone: () => void }) {
  const tools = useTools()
  const [text, setText] = useState('')
  const form = useRef<HTMLFormElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const { labels } = tools.view
  const name = text.trim()
  const score = (label: Label) => matchScore(label.name, name.toLowerCase())
  const found = labels.filter((label) => score(label) >= 0).toSorted((one, other) => score(other) - score(one))
  const isNew = name !== '' && labels.every((label) => score(label) < 2)
  const has = (label_id: string) => card.labels.some(({ id }) => id === label_id)
  const toggle = (label_id: string, labelName: string) => {
    const isOn = has(label_id)
    tools.change(isOn ? 'removeCardLabel' : 'addCardLabel', { card_id: card.id, label_id })
    announce(`${isOn ? 'Removed' : 'Added'} label “${labelName}”`)
  }
  const clear = () => {
    setText('')
    // The row that creates a label disappears with the text.
    field.current?.focus()
  }
  const create = () => {
    if (tooLong(name, MAX_LABEL_LENGTH)) return
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
  const handleKey = (event: KeyboardEvent) => {
    const rows = [...(form.current?.querySelectorAll<HTMLElement>('ul :is(input, button)') ?? [])]
    // In the field, Enter acts on the first row, so the arrow keys continue from there.
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
    <form ref={form} className="picker" onSubmit={submit} onKeyDown={handleKey}>
      <input
        ref={field}
        className="input"
        aria-label="Find or create label"
        placeholder="Find or create label"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <p className="hint" role="status">
        {(isNew && tooLong(name, MAX_LABEL_LENGTH)) ||
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
      {labels.length === 0 && !isNew && <p className="hint">No labels yet. Type a name to create one.</p>}
    </form>
  )
}
