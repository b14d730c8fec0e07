import type { BoardMember, FullBoard, User } from '@lockstep/client'
import type { FailedChange, SubmittedChange } from '@lockstep/client/live'
import { useEffect, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { useMounted } from '../ui/mounted.ts'
import { nameOf } from '../ui/people.tsx'
import { showToast } from '../ui/toasts.tsx'

type Role = BoardMember['role']
/** A change that was sent and is not shown yet. Memberships are not updated optimistically. */
export type PendingMemberChange =
  | { what: 'role'; role: Role }
  | { what: 'removal' }
  | { what: 'invitation'; user: User }

/** How long to wait for the event after the response. It usually arrives first. */
const EVENT_MS = 2_000

/** Pending and failed member changes, and the functions that make one. */
export function useMemberChanges(view: FullBoard) {
  const tools = useTools()
  const [pending, setPending] = useState<ReadonlyMap<string, PendingMemberChange>>(new Map())
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map())
  const [removed, setRemoved] = useState<User>()
  const isMounted = useMounted()

  const clearPending = (user_id: string) => setPending((now) => without(now, user_id))
  useEffect(() => {
    setPending((now) => {
      const left = [...now].filter(([user_id, each]) => !isShown(view, user_id, each))
      return left.length === now.size ? now : new Map(left)
    })
  }, [view])

  /** Waits for the response. If the dialog was closed, the board shows the failure instead. */
  const follow = async (
    user_id: string,
    pendingChange: PendingMemberChange,
    { key, done }: SubmittedChange,
  ): Promise<FailedChange | undefined> => {
    setProblems((now) => without(now, user_id))
    setPending((now) => new Map(now).set(user_id, pendingChange))
    const settled = await done
    if (!isMounted.current) return undefined
    if (!('failure' in settled)) {
      setTimeout(() => clearPending(user_id), EVENT_MS)
      return undefined
    }
    clearPending(user_id)
    tools.dismiss(key)
    return settled.failure
  }
  const setProblem = (user_id: string, sentence: string) => {
    setProblems((now) => new Map(now).set(user_id, sentence))
    announce(sentence)
  }
  const reportProblem = (user_id: string, notice: FailedChange | undefined, confirmation: string) => {
    if (!notice) return announce(confirmation)
    const isLastOwner = notice.problem?.code === 'last_owner'
    setProblem(user_id, isLastOwner ? ONLY_OWNER : (notice.problem?.detail ?? 'Couldn’t save the change.'))
  }

  return {
    pending,
    problems: isOnlyOwner(view, tools.me.id) ? problems : withoutValue(problems, ONLY_OWNER),
    /** The user who was removed last, to invite them again. */
    removed: removed && view.members.every(({ user_id }) => user_id !== removed.id) ? removed : undefined,
    invite: async (user: User): Promise<FailedChange | undefined> => {
      const made = tools.change('inviteMember', { user_id: user.id })
      setRemoved(undefined)
      const notice = await follow(user.id, { what: 'invitation', user }, made)
      if (!notice && isMounted.current) announce(`Added ${nameOf(user)}`)
      return notice
    },
    setRole: async ({ user_id, user }: BoardMember, role: Role) => {
      const made = tools.change('updateMember', { user_id, role })
      const notice = await follow(user_id, { what: 'role', role }, made)
      reportProblem(user_id, notice, `${nameOf(user)} is now ${role === 'owner' ? 'an owner' : 'a member'}`)
    },
    remove: async (member: BoardMember) => {
      const { user_id, user } = member
      const lost = lossOf(view, member)
      if (lost && !confirm(`Remove ${nameOf(user)} from the board? ${lost}`)) return
      const notice = await follow(user_id, { what: 'removal' }, tools.change('removeMember', { user_id }))
      if (notice) return reportProblem(user_id, notice, '')
      if (isMounted.current) setRemoved(user)
      announce(`Removed ${nameOf(user)}`)
    },
    leave: async () => {
      const { id } = tools.me
      if (isOnlyOwner(view, id)) return setProblem(id, ONLY_OWNER)
      if (!confirm(`Leave “${view.title}”? Only an owner can invite you again.`)) return
      const made = tools.change('removeMember', { user_id: id })
      // The board closes as soon as the server confirms, so the rest must not depend on this dialog.
      void made.done.then(({ outcome }) => {
        const isGone = outcome === 'confirmed' || (outcome === 'unknown' && tools.status.reason === 'forbidden')
        if (!isGone) return
        tools.navigate('/boards')
        showToast(`Left “${view.title}”`)
      })
      const notice = await follow(id, { what: 'removal' }, made)
      if (notice) reportProblem(id, notice, '')
    },
  }
}

const ONLY_OWNER = 'A board needs an owner. Make someone else an owner first, or delete the board.'
const isOnlyOwner = ({ members }: FullBoard, id: string) =>
  members.every(({ user_id, role }) => (role === 'owner') === (user_id === id))

/** What a new invitation would not restore. */
function lossOf(view: FullBoard, { user_id, role }: BoardMember): string {
  const cards = view.columns.flatMap((column) => column.cards)
  const count = cards.filter((card) => card.assignees.some(({ id }) => id === user_id)).length
  if (count > 0) return `They will be unassigned from ${count === 1 ? 'one card' : `${count} cards`}.`
  return role === 'owner' ? 'They are an owner.' : ''
}

function isShown({ members }: FullBoard, user_id: string, change: PendingMemberChange): boolean {
  const member = members.find((each) => each.user_id === user_id)
  if (change.what === 'invitation') return member !== undefined
  return change.what === 'role' ? member?.role === change.role : member === undefined
}

function withoutValue<V>(map: ReadonlyMap<string, V>, value: V): ReadonlyMap<string, V> {
  return new Map([...map].filter(([, each]) => each !== value))
}

function without<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  if (!map.has(key)) return map
  return new Map([...map].filter(([each]) => each !== key))
}
