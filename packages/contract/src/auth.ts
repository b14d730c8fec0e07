import Type, { type Static } from 'typebox'
import { Email, LinkToken } from './invitations.ts'
import { Changes, Message, Nullable, named, Optional, operation, Text, Timestamp } from './operation.ts'
import { User } from './users.ts'

/** New usernames have no invisible characters and no mixed scripts, which could imitate other names. */
export const Username = Type.String({ format: 'username', minLength: 1, maxLength: 50 })
export const PersonName = Type.String({ format: 'person-name', maxLength: 255 })
/** The operator sets the rules for new passwords. This is the limit of every rule, checked before hashing. */
export const Password = Type.String({ format: 'text', maxLength: 1024 })

/** The fields of a new account, for registration and for operators. */
export const newAccountFields = {
  email: Email,
  username: Username,
  password: Password,
  firstname: Optional(PersonName),
  lastname: Optional(PersonName),
}

const shape = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal('bearer'),
  sessions_ended_at: Type.Union([Timestamp, Type.Null()], {
    description:
      'When sessions of the user were last ended: by “log out everywhere”, a new password or a deactivation. Null: never. What a client stored for a session with an earlier `iat` may be from somebody else.',
  }),
})
export interface Token extends Static<typeof shape> {}
export const Token = named<Token>('Token', shape)

const ticketShape = Type.Object({ ticket: Type.String(), expires_in: Type.Integer() })
export interface Ticket extends Static<typeof ticketShape> {}
export const Ticket = named<Ticket>('Ticket', ticketShape)

export const authOperations = {
  register: operation({
    method: 'POST',
    path: '/auth/register',
    tag: 'authentication',
    summary: 'Create an account',
    description: 'While registration is closed, an invitation is required.',
    access: 'public',
    body: Type.Object({
      ...newAccountFields,
      invitation: Type.Optional(
        Type.Union([LinkToken, Type.Null()], { description: 'The token of an invitation link.' }),
      ),
    }),
    returns: { status: 201, schema: User },
    problems: [
      'registration_closed',
      'link_invalid',
      'wrong_invited_email',
      'email_taken',
      'username_taken',
      'password_refused',
      'too_many_requests',
      'passwords_busy',
    ],
  }),
  login: operation({
    method: 'POST',
    path: '/auth/login',
    tag: 'authentication',
    summary: 'Log in with an e-mail address and a password',
    description:
      'The field `username` contains the e-mail address. With `cookie=true` the token is also set as the HTTP-only cookie `svc_auth`.',
    access: 'public',
    is_secret: true,
    body: Type.Object({
      username: Text(1024),
      password: Password,
      cookie: Type.Optional(Type.Enum(['true', 'false'])),
    }),
    body_type: 'form',
    returns: { status: 200, schema: Token },
    headers: ['Set-Cookie'],
    problems: ['login_failed', 'foreign_origin', 'too_many_requests', 'passwords_busy'],
  }),
  logout: operation({
    method: 'POST',
    path: '/auth/logout',
    tag: 'authentication',
    summary: 'Clear the cookie',
    description: 'A bearer token stays valid until it expires.',
    access: 'authenticated',
    token: 'never',
    returns: { status: 200, schema: Message },
    headers: ['Set-Cookie'],
  }),
  logoutEverywhere: operation({
    method: 'POST',
    path: '/auth/logout-everywhere',
    tag: 'authentication',
    summary: 'End all sessions',
    description:
      'Revokes every session of the user, including the one of this request; sockets close with 1008. Clears the cookie. Access tokens stay valid.',
    access: 'authenticated',
    token: 'never',
    returns: { status: 200, schema: Message },
    headers: ['Set-Cookie'],
  }),
  refresh: operation({
    method: 'POST',
    path: '/auth/refresh',
    tag: 'authentication',
    summary: 'Exchange a valid token for a new one with full lifetime',
    description:
      'The session can be renewed until it reaches its maximum age, counted from the login. The old token stays valid until it expires.',
    access: 'authenticated',
    token: 'never',
    is_secret: true,
    returns: { status: 200, schema: Token },
    headers: ['Set-Cookie'],
    problems: ['session_too_old'],
  }),
  createTicket: operation({
    method: 'POST',
    path: '/auth/ticket',
    tag: 'authentication',
    summary: 'Get a ticket that opens sockets',
    description:
      'Valid for 30 seconds, only as `token` in the URL of a socket. The socket closes when the token behind the ticket expires or is revoked.',
    access: 'authenticated',
    token: { scope: 'read', board_tokens: true },
    is_secret: true,
    returns: { status: 200, schema: Ticket },
  }),
  getMe: operation({
    method: 'GET',
    path: '/auth/me',
    tag: 'authentication',
    summary: 'Read your account',
    description: 'The account that the credential of the request belongs to. With an access token, its user.',
    access: 'authenticated',
    token: { scope: 'read', board_tokens: true },
    returns: { status: 200, schema: User },
  }),
  updateMe: operation({
    method: 'PATCH',
    path: '/auth/me',
    tag: 'authentication',
    summary: 'Change your name or username',
    description: 'Fields that are left out do not change. The e-mail address cannot be changed.',
    access: 'authenticated',
    token: 'never',
    body: Changes({ username: Username, firstname: Nullable(PersonName), lastname: Nullable(PersonName) }),
    returns: { status: 200, schema: User },
    problems: ['username_taken'],
  }),
  changePassword: operation({
    method: 'POST',
    path: '/auth/change-password',
    tag: 'authentication',
    summary: 'Change your password',
    description:
      'Revokes every other session of the user; the session of this request stays valid. Access tokens stay valid too, unless `revoke_tokens` is true.',
    access: 'authenticated',
    token: 'never',
    body: Type.Object({
      current_password: Password,
      new_password: Password,
      revoke_tokens: Type.Optional(
        Type.Boolean({ default: false, description: 'Also revoke all access tokens of the user.' }),
      ),
    }),
    returns: { status: 200, schema: Message },
    problems: ['wrong_password', 'password_refused', 'passwords_busy'],
  }),
  resetPasswordByLink: operation({
    method: 'POST',
    path: '/auth/reset-password',
    tag: 'authentication',
    summary: 'Set a new password with a reset link',
    description: 'An operator makes the link. It can be used once. Revokes all tokens of the user.',
    access: 'public',
    body: Type.Object({ token: LinkToken, new_password: Password }),
    returns: { status: 200, schema: Message },
    problems: ['link_invalid', 'password_refused', 'too_many_requests', 'passwords_busy'],
  }),
}
