import {
  type AcceptedInvitation,
  adminInvitationOperations,
  invitationOperations,
  linkOperations,
} from '@lockstep/contract/invitations'
import { member, tokenRequirementOf } from '@lockstep/contract/operation'
import { addNewMember, recordChange } from '../boards/member-steps.ts'
import { type CoreServices, changeBoard } from '../core/change-board.ts'
import { slotOf } from '../http/admission.ts'
import type { Handlers } from '../http/handler.ts'
import { readPage } from '../http/read-page.ts'
import { toJson } from '../platform/json.ts'
import { Problem } from '../platform/problem.ts'
import { hashOfToken, linkTo, requireLink } from '../security/links.ts'
import type { RateLimits } from '../security/rate-limits.ts'
import {
  deleteInvitation,
  findInvitations,
  listInvitations,
  previewInvitation,
  readInvitationFor,
} from './invitation-queries.ts'
import { inviteToBoard, inviteToService, revokeAsOperator } from './invitation-steps.ts'

interface InvitationDeps {
  core: CoreServices
  limits: RateLimits
  publicUrl: string
}
type Operations = typeof invitationOperations & typeof linkOperations & typeof adminInvitationOperations

export function invitationHandlers({ core, limits, publicUrl }: InvitationDeps): Handlers<Operations> {
  const { database } = core
  /** The only response with the secret. It is not stored for retries. */
  const withLink = ({ invitation, token }: Awaited<ReturnType<typeof inviteToBoard>>) => ({
    ...invitation,
    link: linkTo(publicUrl, 'invite', token),
  })
  return {
    async createInvitation({ caller, board_id, body }) {
      const { role, email } = body
      const invitation = { board_id, role: role ?? 'member', email: email ?? null, user_id: caller.id }
      return withLink(await inviteToBoard(database, invitation))
    },

    listInvitations: (context) =>
      readPage(invitationOperations.listInvitations, context, (page) =>
        listInvitations(context.db, context.board_id, page),
      ),

    async revokeInvitation({ db, board_id, params }) {
      if (!(await deleteInvitation(db, { id: params.invitation_id, board_id })))
        throw new Problem('invitation_not_found')
    },

    async readInvitation({ db, body, request }) {
      const find = () => previewInvitation(db, hashOfToken(body.token))
      const { email_key: _, ...preview } = await requireLink(limits, request.ip, find)
      return preview
    },

    async acceptInvitation({ db, caller, body, request, reply }) {
      const token_hash = hashOfToken(body.token)
      const find = () => readInvitationFor(db, { token_hash, user_id: caller.id })
      const { board_id, member_role, has_email } = await requireLink(limits, request.ip, find)
      if (!has_email) throw new Problem('wrong_invited_email')
      if (board_id === null || member_role !== null) return { board_id, role: member_role }
      const { credential } = caller
      const response = await changeBoard(core, {
        accessRequest: {
          credential,
          access: member('board'),
          isChange: true,
          targetId: board_id,
          key: null,
          invitationHash: token_hash,
          required: tokenRequirementOf(linkOperations.acceptInvitation),
        },
        board_id,
        isNew: false,
        isRemoval: false,
        identity: null,
        slot: slotOf(request),
        cost: { bytes: 0 },
        handle: async ({ tx: db, grant: { role }, emit, beforeCommit }) => {
          await addNewMember(db, { board_id, user_id: caller.id }, role, emit)
          const key = { board_id, user_id: caller.id }
          await recordChange({ db, caller, beforeCommit }, limits, 'add-member', key, { role })
          return { status: 200, body: toJson({ board_id, role } satisfies AcceptedInvitation) }
        },
      })
      reply.header('board-position', response.position)
      return JSON.parse(response.body as string) as AcceptedInvitation
    },

    async createServiceInvitation({ caller, body }) {
      return withLink(await inviteToService(database, { actor_id: caller.id }, body.email ?? null))
    },

    findInvitations: (context) =>
      readPage(adminInvitationOperations.findInvitations, context, (page) => findInvitations(context.db, page)),

    async revokeAnyInvitation({ caller, params }) {
      await revokeAsOperator(database, { actor_id: caller.id }, params.invitation_id)
    },
  }
}
