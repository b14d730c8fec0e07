import Type, { type Static } from 'typebox'
import {
  Nullable,
  named,
  nothing,
  Optional,
  operation,
  owner,
  Paging,
  scopes,
  Timestamp,
  Title,
  Uuid,
} from './operation.ts'
import { User } from './users.ts'

const Scope = Type.Enum([...scopes])
const shape = Type.Object({
  id: Uuid,
  name: Type.String(),
  scope: Scope,
  board_id: Type.Union([Uuid, Type.Null()], {
    description: 'The only board that it gives access to; null: all boards.',
  }),
  hint: Type.String({ description: 'The last four characters.' }),
  created_at: Timestamp,
  expires_at: Nullable(Timestamp),
  last_used_at: Type.Union([Timestamp, Type.Null()], { description: 'Exact to a minute and a half.' }),
})
/** An access token, without its secret. */
export interface AccessToken extends Static<typeof shape> {}
export const AccessToken = named<AccessToken>('AccessToken', shape)

const newShape = Type.Object({ ...shape.properties, token: Type.String() })
/** A new access token. Only this response contains the secret. */
export interface NewAccessToken extends Static<typeof newShape> {}
export const NewAccessToken = named<NewAccessToken>('NewAccessToken', newShape)

const boardShape = Type.Object({ ...shape.properties, user: User })
/** A token of one board, with the user who created it. */
export interface BoardToken extends Static<typeof boardShape> {}
export const BoardToken = named<BoardToken>('BoardToken', boardShape)

const TokenPath = Type.Object({ token_id: Uuid })
const ofUser = { tag: 'tokens', access: 'authenticated', token: 'never' } as const
const ofBoard = { tag: 'tokens', access: owner('board'), token: 'never' } as const

export const DEFAULT_TOKEN_DAYS = 90

export const tokenOperations = {
  createToken: operation({
    ...ofUser,
    method: 'POST',
    path: '/auth/tokens',
    summary: 'Create an access token',
    description:
      'The response is the only one that contains the token. It acts as the user, limited by its scope, and by its board if `board_id` is given. Requires a login within the last hour. An `admin` token of a board can be created by its owners. A user can have 50 tokens.',
    is_secret: true,
    body: Type.Object({
      name: Title,
      scope: Scope,
      board_id: Optional(Uuid),
      expires_in_days: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 3_650,
          default: DEFAULT_TOKEN_DAYS,
          description: 'The operator sets the maximum (`TOKEN_MAX_AGE_DAYS`). 0: never, if there is no maximum.',
        }),
      ),
    }),
    returns: { status: 201, schema: NewAccessToken },
    problems: [
      'login_too_old',
      'board_not_found',
      'not_a_member',
      'role_too_low',
      'too_many_tokens',
      'token_lifetime_limit',
    ],
  }),
  listTokens: operation({
    ...ofUser,
    method: 'GET',
    path: '/auth/tokens',
    summary: 'List your access tokens, newest first',
    description: 'Expired tokens are listed for 30 days.',
    query: Type.Object(Paging()),
    returns: { status: 200, schema: Type.Array(AccessToken) },
  }),
  revokeToken: operation({
    ...ofUser,
    method: 'DELETE',
    path: '/auth/tokens/{token_id}',
    summary: 'Revoke one of your access tokens',
    description: 'The next request with it is rejected, and its sockets close with 1008.',
    params: TokenPath,
    returns: nothing,
    problems: ['token_not_found'],
  }),
  revokeTokens: operation({
    ...ofUser,
    method: 'DELETE',
    path: '/auth/tokens',
    summary: 'Revoke all of your access tokens',
    description: 'The next request with one of them is rejected, and their sockets close with 1008.',
    returns: nothing,
  }),
  listBoardTokens: operation({
    ...ofBoard,
    method: 'GET',
    path: '/boards/{board_id}/tokens',
    summary: 'List the access tokens that are limited to a board, newest first',
    description: 'Those of all members. Tokens for all boards are not listed: only their users see them.',
    params: Type.Object({ board_id: Uuid }),
    query: Type.Object(Paging()),
    returns: { status: 200, schema: Type.Array(BoardToken) },
  }),
  revokeBoardToken: operation({
    ...ofBoard,
    method: 'DELETE',
    path: '/boards/{board_id}/tokens/{token_id}',
    summary: 'Revoke an access token that is limited to a board',
    description:
      'Owners can revoke the tokens of all members. The next request with it is rejected, and its sockets close with 1008.',
    params: Type.Object({ board_id: Uuid, token_id: Uuid }),
    returns: nothing,
    problems: ['token_not_found'],
  }),
}
