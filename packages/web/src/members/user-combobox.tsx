import { Combobox } from '@base-ui/react/combobox'
import type { User } from '@lockstep/client'
import { type RefObject, useId, useState } from 'react'
import { errorMessage } from '../ui/failure.tsx'
import { Avatar, nameOf } from '../ui/people.tsx'
import { t } from './messages.ts'
import { type UserSearch, useUserSearch } from './use-user-search.ts'

interface UserComboboxProps {
  label: string
  field: RefObject<HTMLInputElement | null>
  /** A note for a user who can't be invited. */
  noteOf: (user: User) => string | undefined
  onPick: (user: User) => void
}

/** A field that searches users. It is empty again after a user was picked. */
export function UserCombobox({ label, field, noteOf, onPick }: UserComboboxProps) {
  const id = useId()
  const [text, setText] = useState('')
  const [isExpanded, setExpanded] = useState(false)
  const search = useUserSearch(text)
  const canPick = search.state === 'found' && search.users.length > 0
  return (
    <Combobox.Root<User>
      items={search.users}
      filter={null}
      itemToStringLabel={nameOf}
      autoHighlight
      openOnInputClick={false}
      open={isExpanded && search.state !== 'idle'}
      onOpenChange={setExpanded}
      // Closing the list keeps the text.
      inputValue={text}
      onInputValueChange={(next, { reason }) => {
        if (reason === 'input-change') setText(next)
      }}
      value={null}
      onValueChange={(user) => {
        if (!user) return
        setText('')
        onPick(user)
      }}
    >
      <div className="combobox">
        <label htmlFor={id}>{label}</label>
        <Combobox.Input
          ref={field}
          id={id}
          className="input"
          dir="auto"
          placeholder={t.usernameOrEmail}
          onKeyDown={(event) => {
            // While a search is running, the list belongs to the previous text.
            if (event.key === 'Enter' && !canPick) event.preventBaseUIHandler()
          }}
        />
      </div>
      <Combobox.Portal>
        <Combobox.Positioner className="positioner" sideOffset={4} collisionPadding={8} align="start">
          <Combobox.Popup className="layer menu combobox-popup">
            <Combobox.List aria-label={label}>
              {(user: User) => (
                <Combobox.Item key={user.id} value={user} className="menu-item">
                  <Avatar person={user} />
                  <span className="combobox-name" dir="auto">
                    {nameOf(user)} <small>@{user.username}</small>
                  </span>
                  {noteOf(user) && <small>{noteOf(user)}</small>}
                </Combobox.Item>
              )}
            </Combobox.List>
            <Combobox.Empty>
              <p>{emptyText(search, text.trim())}</p>
            </Combobox.Empty>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  )
}

/** Why the list is empty. */
function emptyText({ state, error }: UserSearch, text: string): string {
  if (state === 'searching') return t.searching
  if (state === 'failed') return errorMessage(error)
  return state === 'found' ? t.noOneFoundFor({ text }) : ''
}
