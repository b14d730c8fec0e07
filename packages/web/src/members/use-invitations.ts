import type { BoardMember, FullBoard, Invitation } from '@lockstep/client'
import { useEffect, useState } from 'react'
import { client } from '../session.ts'
import { announce } from '../ui/announcer.tsx'
import { errorMessage } from '../ui/failure.tsx'
import { useMounted } from '../ui/mounted.ts'
import { t } from './messages.ts'

/** The pending invitations of a board, for owners. They are not part of the board; a new member may have used one. */
export function useInvitations({ id: board_id, members }: FullBoard) {
  const [pending, setPending] = useState<readonly Invitation[]>([])
  const [link, setLink] = useState<{ id: string; href: string }>()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const isMounted = useMounted()
  const fail = (error: unknown) => {
    if (isMounted.current) setProblem(errorMessage(error))
  }
  const load = () =>
    client.listInvitations({ board_id }).then((list) => {
      if (!isMounted.current) return
      setPending(list)
      // A link that was used or revoked is no longer offered.
      setLink((now) => (list.some(({ id }) => id === now?.id) ? now : undefined))
    }, fail)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `load` is a new function in each render
  useEffect(() => {
    void load()
  }, [board_id, members.length])

  const remove = (id: string) => {
    setPending((now) => now.filter((each) => each.id !== id))
    setLink((now) => (now?.id === id ? undefined : now))
  }
  return {
    pending,
    /** The link that was created last. Its secret is not shown again. */
    link,
    isBusy,
    problem,
    create: async (role: BoardMember['role']): Promise<string | undefined> => {
      if (isBusy) return undefined
      setBusy(true)
      setProblem(undefined)
      try {
        const { link: made, ...invitation } = await client.createInvitation({ board_id, role })
        const href = new URL(made, location.origin).href
        setPending((now) => [invitation, ...now])
        setLink({ id: invitation.id, href })
        return href
      } catch (error) {
        fail(error)
        return undefined
      } finally {
        setBusy(false)
      }
    },
    revoke: async (invitation_id: string) => {
      setProblem(undefined)
      try {
        await client.revokeInvitation({ board_id, invitation_id })
        remove(invitation_id)
        announce(t.invitationRevoked)
      } catch (error) {
        fail(error)
        // It may have been used or revoked by another owner.
        await load()
      }
    },
  }
}
