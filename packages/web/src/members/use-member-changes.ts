import type { BoardMember, FullBoard, User } from '@lockstep/client'
import type { FailedChange, SubmittedChange } from '@lockstep/client/live'
import { useEffect, useState } from 'react'
import { useTools } from '../board/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { useMounted } from '../ui/mounted.ts'
import { nameOf } from '../ui/people.tsx'
import { showToast } from '../ui/toasts.tsx'

type Role = BoardMember['role']
/** What was asked of the server about a member and does not show yet: nobody foretells who is a member. */
export type Asked = { what: 'role'; role: Role } | { what: 'removal' } | { what: 'invitation'; user: User }

/** What is left to wait for once the server has agreed: its event, which mostly is there already. */
const EVENT_MS = 2_000

/** The changes of members that are under way, those that failed, and how to make one. */
export function useMemberChanges(view: FullBoard) {
  const tools = useTools()
  const [asked, setAsked] = useState<ReadonlyMap<string, Asked>>(new Map())
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map())
  const [removed, setRemoved] = useState<User>()
  const isMounted = useMounted()

  const forget = (user_id: string) => setAsked((now) => without(now, user_id))
  useEffect(() => {
    setAsked((now) => {
      const left = [...now].filter(([user_id, each]) => !isShown(view, user_id, each))
      return left.length === now.size ? now : new Map(left)
    })
  }, [view])

  /** Waits for the server's word. Who closed the panel meanwhile finds a refusal where all of them are. */
  const follow = async (
    user_id: string,
    what: Asked,
    { key, done }: SubmittedChange,
  ): Promise<FailedChange | undefined> => {
    setProblems((now) => without(now, user_id))
    setAsked((now) => new Map(now).set(user_id, what))
    const settled = await done
    if (!isMounted.current) return undefined
    if (!('failure' in settled)) {
      setTimeout(() => forget(user_id), EVENT_MS)
      return undefined
    }
    forget(user_id)
    tools.dismiss(key)
    return settled.failure
  }
  const setProblem = (user_id: string, sentence: string) => {
    setProblems((now) => new Map(now).set(user_id, sentence))
    announce(sentence)
  }
  const tellProblem = (user_id: string, notice: FailedChange | undefined, instead: string) => {
    if (!notice) return announce(instead)
    const isLastOwner = notice.problem?.code === 'last_owner'
    setProblem(user_id, isLastOwner ? ONLY_OWNER : (notice.problem?.detail ?? 'It could not be done.'))
  }

  return {
    asked,
    problems: isOnlyOwner(view, tools.me.id) ? problems : withoutValue(problems, ONLY_OWNER),
    /** Who was removed last, and can be invited again. */
    removed: removed && view.members.every(({ user_id }) => user_id !== removed.id) ? removed : undefined,
    invite: async (user: User): Promise<FailedChange | undefined> => {
      const made = tools.change('inviteMember', { user_id: user.id })
      setRemoved(undefined)
      const notice = await follow(user.id, { what: 'invitation', user }, made)
      if (!notice && isMounted.current) announce(`${nameOf(user)} is a member now.`)
      return notice
    },
    setRole: async ({ user_id, user }: BoardMember, role: Role) => {
      const made = tools.change('updateMember', { user_id, role })
      const notice = await follow(user_id, { what: 'role', role }, made)
      tellProblem(user_id, notice, `${nameOf(user)} is ${role === 'owner' ? 'an owner' : 'a member'} now.`)
    },
    remove: async (member: BoardMember) => {
      const { user_id, user } = member
      const lost = lossOf(view, member)
      if (lost && !confirm(`Remove ${nameOf(user)} from the board? ${lost}`)) return
      const notice = await follow(user_id, { what: 'removal' }, tools.change('removeMember', { user_id }))
      if (notice) return tellProblem(user_id, notice, '')
      if (isMounted.current) setRemoved(user)
      announce(`${nameOf(user)} is no longer a member.`)
    },
    leave: async () => {
      const { id } = tools.me
      if (isOnlyOwner(view, id)) return setProblem(id, ONLY_OWNER)
      if (!confirm(`Leave “${view.title}”? Only an owner can invite you again.`)) return
      const made = tools.change('removeMember', { user_id: id })
      // The board closes as soon as its server knows: what follows must not depend on this panel.
      void made.done.then(({ outcome }) => {
        const isGone = outcome === 'confirmed' || (outcome === 'unknown' && tools.status.reason === 'forbidden')
        if (!isGone) return
        tools.navigate('/boards')
        showToast(`You left “${view.title}”.`)
      })
      const notice = await follow(id, { what: 'removal' }, made)
      if (notice) tellProblem(id, notice, '')
    },
  }
}

const ONLY_OWNER = 'You are the only owner. Make somebody else an owner first, or delete the board.'
const isOnlyOwner = ({ members }: FullBoard, id: string) =>
  members.every(({ user_id, role }) => (role === 'owner') === (user_id === id))

/** What inviting somebody again would not bring back. */
function lossOf(view: FullBoard, { user_id, role }: BoardMember): string {
  const cards = view.columns.flatMap((column) => column.cards)
  const count = cards.filter((card) => card.assignees.some(({ id }) => id === user_id)).length
  if (count > 0) return `They are taken off ${count === 1 ? 'one card' : `${count} cards`}.`
  return role === 'owner' ? 'They are an owner of it.' : ''
}

function isShown({ members }: FullBoard, user_id: string, asked: Asked): boolean {
  const member = members.find((each) => each.user_id === user_id)
  if (asked.what === 'invitation') return member !== undefined
  return asked.what === 'role' ? member?.role === asked.role : member === undefined
}

function withoutValue<V>(map: ReadonlyMap<string, V>, value: V): ReadonlyMap<string, V> {
  return new Map([...map].filter(([, each]) => each !== value))
}

function without<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  if (!map.has(key)) return map
  return new Map([...map].filter(([each]) => each !== key))
}
