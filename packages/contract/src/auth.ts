import Type, { type Static } from 'typebox'
import { Changes, Message, Nullable, named, Optional, operation, Text } from './operation.ts'
import { User } from './users.ts'

/** New usernames have no invisible characters and no mixed scripts, which could imitate other names. */
const Username = Type.String({ format: 'username', minLength: 3, maxLength: 50 })
const PersonName = Type.String({ format: 'person-name', maxLength: 255 })
/** The operator sets the rules for new passwords. This is the limit of every rule, checked before hashing. */
export const Password = Type.String({ format: 'text', maxLength: 1024 })

const shape = Type.Object({ access_token: Type.String(), token_type: Type.Literal('bearer') })
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
    access: 'public',
    body: Type.Object({
      email: Type.String({ format: 'email', maxLength: 254 }),
      username: Username,
      password: Password,
      firstname: Optional(PersonName),
      lastname: Optional(PersonName),
    }),
    returns: { status: 201, schema: User },
    problems: [
      'registration_closed',
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
    body: Type.Object({
      username: Text(1024),
      password: Password,
      cookie: Type.Optional(Type.Enum(['true', 'false'])),
    }),
    body_type: 'form',
    returns: { status: 200, schema: Token },
    problems: ['login_failed', 'foreign_origin', 'too_many_requests', 'passwords_busy'],
  }),
  logout: operation({
    method: 'POST',
    path: '/auth/logout',
    tag: 'authentication',
    summary: 'Clear the cookie',
    description: 'A bearer token stays valid until it expires.',
    access: 'authenticated',
    returns: { status: 200, schema: Message },
  }),
  logoutEverywhere: operation({
    method: 'POST',
    path: '/auth/logout-everywhere',
    tag: 'authentication',
    summary: 'End all sessions',
    description:
      'Revokes every token of the user, including the one of this request; sockets close with 1008. Clears the cookie.',
    access: 'authenticated',
    returns: { status: 200, schema: Message },
  }),
  refresh: operation({
    method: 'POST',
    path: '/auth/refresh',
    tag: 'authentication',
    summary: 'Exchange a valid token for a new one with full lifetime',
    access: 'authenticated',
    returns: { status: 200, schema: Token },
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
    returns: { status: 200, schema: Ticket },
  }),
  getMe: operation({
    method: 'GET',
    path: '/auth/me',
    tag: 'authentication',
    summary: 'Read your account',
    access: 'authenticated',
    returns: { status: 200, schema: User },
  }),
  updateMe: operation({
    method: 'PATCH',
    path: '/auth/me',
    tag: 'authentication',
    summary: 'Change your name or username',
    access: 'authenticated',
    body: Changes({ username: Username, firstname: Nullable(PersonName), lastname: Nullable(PersonName) }),
    returns: { status: 200, schema: User },
    problems: ['username_taken'],
  }),
  changePassword: operation({
    method: 'POST',
    path: '/auth/change-password',
    tag: 'authentication',
    summary: 'Change your password',
    description: 'Revokes every other token of the user; the token of this request stays valid.',
    access: 'authenticated',
    body: Type.Object({ current_password: Password, new_password: Password }),
    returns: { status: 200, schema: Message },
    problems: ['wrong_password', 'password_refused', 'passwords_busy'],
  }),
}
