import type { User } from '@lockstep/client'
import { type KeyboardEvent, type RefObject, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import { errorMessage } from '../ui/failure.tsx'
import { Avatar, nameOf } from '../ui/people.tsx'
import { useUserSearch } from './use-user-search.ts'

interface UserComboboxProps {
  label: string
  field: RefObject<HTMLInputElement | null>
  /** A note for a user who can't be invited. */
  noteOf: (user: User) => string | undefined
  onPick: (user: User) => void
}

/** An editable combobox, following the ARIA Authoring Practices: the focus stays in the field, arrow keys move in the list. */
export function UserCombobox({ label, field, noteOf, onPick }: UserComboboxProps) {
  const id = useId()
  const popup = useRef<HTMLDivElement>(null)
  const [text, setText] = useState('')
  const [isExpanded, setExpanded] = useState(false)
  const [active, setActive] = useState(0)
  const { state, users, error } = useUserSearch(text)
  const isOpen = isExpanded && state !== 'idle'
  const at = Math.min(active, users.length - 1)

  useLayoutEffect(() => {
    const [list, box] = [popup.current, field.current?.getBoundingClientRect()]
    if (!list || !box) return
    if (!isOpen) {
      list.hidePopover()
      return
    }
    list.showPopover()
    list.style.left = `${box.left}px`
    list.style.top = `${box.bottom + 4}px`
    list.style.width = `${box.width}px`
    list.style.maxHeight = `${Math.max(120, innerHeight - box.bottom - 12)}px`
  })
  useEffect(() => {
    popup.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  })

  const pick = (user: User | undefined) => {
    if (!user) return
    setText('')
    setExpanded(false)
    onPick(user)
  }
  const handleKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) {
      setActive(isOpen && users.length > 0 ? (at + step + users.length) % users.length : 0)
      setExpanded(true)
    } else if (event.key === 'Enter') {
      // While a search is running, the list belongs to the previous text.
      if (isOpen && state === 'found') pick(users[at])
    } else if (event.key === 'Escape' && isOpen) setExpanded(false)
    else return
    event.preventDefault()
  }

  return (
    <div className="combobox">
      <label htmlFor={id}>{label}</label>
      <input
        ref={field}
        id={id}
        className="input"
        role="combobox"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && users[at] ? `${id}-${users[at].id}` : undefined}
        autoComplete="off"
        spellCheck={false}
        placeholder="Name or username"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setExpanded(true)
          setActive(0)
        }}
        onBlur={() => setExpanded(false)}
        onKeyDown={handleKey}
      />
      <div ref={popup} popover="manual" className="menu combobox-popup">
        <div id={`${id}-list`} role="listbox" aria-label={label} tabIndex={-1}>
          {users.map((user, i) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys
            <div
              key={user.id}
              id={`${id}-${user.id}`}
              className="menu-item"
              role="option"
              tabIndex={-1}
              aria-selected={i === at}
              // The focus stays in the field.
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => pick(user)}
            >
              <Avatar person={user} />
              <span className="combobox-name">
                {nameOf(user)} <small>@{user.username}</small>
              </span>
              {noteOf(user) && <small>{noteOf(user)}</small>}
            </div>
          ))}
        </div>
        {state === 'searching' && users.length === 0 && <p>Searching…</p>}
        {state === 'found' && users.length === 0 && <p>No one found for “{text.trim()}”</p>}
        {state === 'failed' && <p>{errorMessage(error)}</p>}
      </div>
    </div>
  )
}
