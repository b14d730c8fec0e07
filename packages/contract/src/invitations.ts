import Type, { type Static } from 'typebox'
import { Nullable, named, nothing, Optional, operation, owner, Paging, Timestamp, Uuid } from './operation.ts'

const Role = Type.Enum(['owner', 'member'])
export const Email = Type.String({ format: 'email', maxLength: 254 })
/** The secret of a link, which is the fragment of its URL. */
export const LinkToken = Type.String({ format: 'text', minLength: 1, maxLength: 100 })

/** The fields of an invitation, which the export of an account contains too. */
export const invitationFields = {
  id: Uuid,
  board_id: Nullable(Uuid),
  role: Nullable(Role),
  email: Nullable(Type.String()),
  invited_by: Nullable(Uuid),
  created_at: Timestamp,
  expires_at: Timestamp,
  is_claimed: Type.Boolean({ description: 'An account was created with it, and has not joined the board yet.' }),
}
const shape = Type.Object(invitationFields)
/** A pending invitation. Without a board, it is an invitation to the service. */
export interface Invitation extends Static<typeof shape> {}
export const Invitation = named<Invitation>('Invitation', shape)

/** Links are absolute if the operator has set `PUBLIC_URL`. */
export const Link = Type.String({
  description: 'The link with its secret, which is not shown again. A path if `PUBLIC_URL` is not set.',
})
const newShape = Type.Object({ ...invitationFields, link: Link })
/** A new invitation, with its secret. */
export interface NewInvitation extends Static<typeof newShape> {}
export const NewInvitation = named<NewInvitation>('NewInvitation', newShape)

const previewShape = Type.Object({
  board_title: Nullable(Type.String()),
  role: Nullable(Role),
  invited_by: Nullable(Type.String({ description: 'The name of the inviter; null for an operator.' })),
  email: Nullable(Type.String()),
  expires_at: Timestamp,
  is_claimed: Type.Boolean(),
})
/** What the invited person sees before they join. */
export interface InvitationPreview extends Static<typeof previewShape> {}
export const InvitationPreview = named<InvitationPreview>('InvitationPreview', previewShape)

const acceptedShape = Type.Object({ board_id: Nullable(Uuid), role: Nullable(Role) })
export interface AcceptedInvitation extends Static<typeof acceptedShape> {}
export const AcceptedInvitation = named<AcceptedInvitation>('AcceptedInvitation', acceptedShape)

const BoardPath = Type.Object({ board_id: Uuid })
const only = 'For superusers, if `ADMIN_API=on`.'
const guarded = { tag: 'administration', access: 'superuser' } as const

/** Invitations to a board. They are not part of the board: none of these operations emits an event. */
export const invitationOperations = {
  createInvitation: operation({
    method: 'POST',
    path: '/boards/{board_id}/invitations',
    tag: 'members',
    summary: 'Create an invitation link to a board',
    description:
      'For a person with or without an account, also while registration is closed. It can be used once, within 7 days, while its creator is an owner of the board.',
    access: owner('board'),
    // A link would still work after the token that created it is revoked.
    token: 'never',
    is_secret: true,
    params: BoardPath,
    body: Type.Object({ role: Optional(Role, 'member'), email: Optional(Email) }),
    returns: { status: 201, schema: NewInvitation },
    problems: ['too_many_invitations'],
  }),
  listInvitations: operation({
    method: 'GET',
    path: '/boards/{board_id}/invitations',
    tag: 'members',
    summary: 'List the pending invitations to a board',
    description: 'Newest first, without their secrets. A board has at most 50.',
    access: owner('board'),
    params: BoardPath,
    query: Type.Object(Paging()),
    returns: { status: 200, schema: Type.Array(Invitation) },
  }),
  revokeInvitation: operation({
    method: 'DELETE',
    path: '/boards/{board_id}/invitations/{invitation_id}',
    tag: 'members',
    summary: 'Revoke a pending invitation to a board',
    description: 'The link is invalid from then on. A member who has joined with it stays a member.',
    access: owner('board'),
    params: Type.Object({ board_id: Uuid, invitation_id: Uuid }),
    returns: nothing,
    problems: ['invitation_not_found'],
  }),
}

/** What the holder of an invitation link can do. The secret is in the body, because URLs are logged. */
export const linkOperations = {
  readInvitation: operation({
    method: 'POST',
    path: '/invitations/read',
    tag: 'authentication',
    summary: 'Read who invites to what',
    description: 'Does not use the invitation up.',
    access: 'public',
    body: Type.Object({ token: LinkToken }),
    returns: { status: 200, schema: InvitationPreview },
    problems: ['link_invalid', 'too_many_requests'],
  }),
  acceptInvitation: operation({
    method: 'POST',
    path: '/invitations/accept',
    tag: 'authentication',
    summary: 'Join a board by invitation',
    description:
      'Emits `board.member_added`. A member of the board gets the same response, and does not use the invitation up; nor does an invitation to the service, for which `board_id` is null.',
    access: 'authenticated',
    body: Type.Object({ token: LinkToken }),
    returns: { status: 200, schema: AcceptedInvitation },
    headers: ['Board-Position'],
    problems: [
      'board_archived',
      'link_invalid',
      'wrong_invited_email',
      'board_not_found',
      'already_a_member',
      'board_busy',
      'board_log_limit',
      'board_text_limit',
      'change_too_large',
    ],
  }),
}

export const adminInvitationOperations = {
  createServiceInvitation: operation({
    ...guarded,
    method: 'POST',
    path: '/admin/invitations',
    summary: 'Create an invitation link to the service',
    description: `The invited person creates an account, also while registration is closed. It can be used once, within 7 days, while its creator is a superuser. ${only}`,
    is_secret: true,
    body: Type.Object({ email: Optional(Email) }),
    returns: { status: 201, schema: NewInvitation },
    problems: ['too_many_invitations'],
  }),
  findInvitations: operation({
    ...guarded,
    method: 'GET',
    path: '/admin/invitations',
    summary: 'List all pending invitations, to boards and to the service',
    description: `Ordered by id, oldest first, without their secrets. \`Link\` is the next page. ${only}`,
    query: Type.Object(Paging({ default: 50 })),
    returns: { status: 200, schema: Type.Array(Invitation) },
  }),
  revokeAnyInvitation: operation({
    ...guarded,
    method: 'DELETE',
    path: '/admin/invitations/{invitation_id}',
    summary: 'Revoke a pending invitation',
    description: only,
    params: Type.Object({ invitation_id: Uuid }),
    returns: nothing,
    problems: ['invitation_not_found'],
  }),
}
