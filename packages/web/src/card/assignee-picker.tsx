import type { Card, User } from '@lockstep/client'
import { useState } from 'react'
import { type BoardTools, useTools } from '../board-state/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { Avatar, nameOf } from '../ui/people.tsx'

interface Assignment {
  assignees: readonly User[]
  assign: (user_id: string) => void
  unassign: (user_id: string) => void
}

/** The assignees of a card, with functions to change them. */
export const cardAssignees = (tools: BoardTools, { id: card_id, assignees }: Card): Assignment => ({
  assignees,
  assign: (user_id) => tools.change('assignCard', { card_id, user_ids: [user_id] }),
  unassign: (user_id) => tools.change('unassignCard', { card_id, user_id }),
})

/** With more members than this, a search field is shown. */
const SEARCH_THRESHOLD = 8

/** The members of the board, with the assignees checked. */
export function AssigneePicker({ assignees, assign, unassign }: Assignment) {
  const { view } = useTools()
  const [text, setText] = useState('')
  const people = view.members.map(({ user }) => user)
  const found = people.filter((user) => `${nameOf(user)} ${user.username}`.toLowerCase().includes(text.toLowerCase()))
  const isOn = (user: User) => assignees.some(({ id }) => id === user.id)
  const toggle = (user: User) => {
    announce(`${isOn(user) ? 'Unassigned' : 'Assigned'} ${nameOf(user)}`)
    if (isOn(user)) unassign(user.id)
    else assign(user.id)
  }
  return (
    <div className="picker">
      {people.length > SEARCH_THRESHOLD && (
        <input
          className="input"
          aria-label="Find member"
          placeholder="Find member"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      <ul>
        {found.map((user) => (
          <li key={user.id}>
            <label className="check">
              <input type="checkbox" checked={isOn(user)} onChange={() => toggle(user)} />
              <Avatar person={user} />
              {nameOf(user)}
            </label>
          </li>
        ))}
      </ul>
    </div>
  )
}
