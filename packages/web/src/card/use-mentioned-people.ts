import { useMemo } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { nameOf } from '../ui/people.tsx'
import type { MentionedPeople, MentionedPerson } from './mention-syntax.ts'

/** The members whom a text mentions, by id. The same map while they are unchanged, as for linked cards. */
export function useMentionedPeople(text: string, hasMentions: boolean): MentionedPeople | undefined {
  const { me } = useTools()
  const { view } = useShownBoard()
  const lowerCase = hasMentions ? text.toLowerCase() : ''
  const found = view.members
    .filter(({ user_id }) => lowerCase.includes(`(user:${user_id})`))
    .map(({ user }): [string, MentionedPerson] => [user.id, { name: nameOf(user), isMe: user.id === me.id }])
  const key = JSON.stringify(found)
  return useMemo(() => new Map(JSON.parse(key) as [string, MentionedPerson][]), [key])
}
