import type { Card, User } from '@lockstep/client'
import { useState } from 'react'
import { announce } from '../ui/announcer.tsx'
import { Avatar, nameOf } from '../ui/people.tsx'
import { type BoardTools, useTools } from './board-tools.ts'

interface Assignment {
  assignees: readonly User[]
  assign: (user_id: string) => void
  unassign: (user_id: string) => void
}

/** Who is on a card, and how that is changed. */
export const cardAssignees = (tools: BoardTools, { id: card_id, assignees }: Card): Assignment => ({
  assignees,
  assign: (user_id) => tools.change('assignCard', { card_id, user_ids: [user_id] }),
  unassign: (user_id) => tools.change('unassignCard', { card_id, user_id }),
})

/** From so many members on, a field to find one. */
const MANY = 8

/** The members of the board, those who are assigned ticked. */
export function AssigneePicker({ assignees, assign, unassign }: Assignment) {
  const { view } = useTools()
  const [text, setText] = useState('')
  const people = view.members.map(({ user }) => user)
  const found = people.filter((user) => `${nameOf(user)} ${user.username}`.toLowerCase().includes(text.toLowerCase()))
  const isOn = (user: User) => assignees.some(({ id }) => id === user.id)
  const toggle = (user: User) => {
    announce(`${nameOf(user)} ${isOn(user) ? 'taken off' : 'assigned'}.`)
    if (isOn(user)) unassign(user.id)
    else assign(user.id)
  }
  return (
    <div className="picker">
      {people.length > MANY && (
        <input
          className="input"
          aria-label="Find a member"
          placeholder="Find a member"
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
