import type { BoardMember, FullBoard, User } from '@lockstep/client'
import type { FailedChange, SubmittedChange } from '@lockstep/client/live'
import { useEffect, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { confirmAction } from '../ui/confirm.ts'
import { useMounted } from '../ui/mounted.ts'
import { nameOf } from '../ui/people.tsx'
import { problemMessage } from '../ui/problems.ts'
import { showToast } from '../ui/toasts.ts'
import { t } from './messages.ts'

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
    setProblem(user_id, isLastOwner ? t.onlyOwner : notice.problem ? problemMessage(notice.problem) : t.changeFailed)
  }

  return {
    pending,
    problems: isOnlyOwner(view, tools.me.id) ? problems : withoutValue(problems, t.onlyOwner),
    /** The user who was removed last, to invite them again. */
    removed: removed && view.members.every(({ user_id }) => user_id !== removed.id) ? removed : undefined,
    invite: async (user: User): Promise<FailedChange | undefined> => {
      const made = tools.change('inviteMember', { user_id: user.id })
      setRemoved(undefined)
      const notice = await follow(user.id, { what: 'invitation', user }, made)
      if (!notice && isMounted.current) announce(t.added({ name: nameOf(user) }))
      return notice
    },
    setRole: async ({ user_id, user }: BoardMember, role: Role) => {
      const made = tools.change('updateMember', { user_id, role })
      const notice = await follow(user_id, { what: 'role', role }, made)
      reportProblem(user_id, notice, (role === 'owner' ? t.isNowOwner : t.isNowMember)({ name: nameOf(user) }))
    },
    remove: async (member: BoardMember) => {
      const { user_id, user } = member
      const name = nameOf(user)
      const text = removalConsequence(view, member)
      const question = { title: t.removeTitle({ name }), text, action: t.removeMember }
      if (text && !(await confirmAction(question))) return
      const notice = await follow(user_id, { what: 'removal' }, tools.change('removeMember', { user_id }))
      if (notice) return reportProblem(user_id, notice, '')
      if (isMounted.current) setRemoved(user)
      announce(t.removed({ name }))
    },
    leave: async () => {
      const { id } = tools.me
      if (isOnlyOwner(view, id)) return setProblem(id, t.onlyOwner)
      const question = { title: t.leaveTitle({ board: view.title }), text: t.leaveText, action: t.leaveBoard }
      if (!(await confirmAction(question))) return
      const made = tools.change('removeMember', { user_id: id })
      // The board closes as soon as the server confirms, so the rest must not depend on this dialog.
      void made.done.then(({ outcome }) => {
        const isGone = outcome === 'confirmed' || (outcome === 'unknown' && tools.status.reason === 'forbidden')
        if (!isGone) return
        tools.navigate('/boards')
        showToast(t.left({ board: view.title }))
      })
      const notice = await follow(id, { what: 'removal' }, made)
      if (notice) reportProblem(id, notice, '')
    },
  }
}

const isOnlyOwner = ({ members }: FullBoard, id: string) =>
  members.every(({ user_id, role }) => (role === 'owner') === (user_id === id))

/** What a new invitation would not restore; undefined if it restores everything. */
function removalConsequence(view: FullBoard, { user_id, role }: BoardMember): string | undefined {
  const cards = view.columns.flatMap((column) => column.cards)
  const count = cards.filter((card) => card.assignees.some(({ id }) => id === user_id)).length
  if (count > 0) return t.removesAssigned({ count })
  return role === 'owner' ? t.removesOwner : undefined
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
