import Type, { type Static } from 'typebox'
import { Nullable, named, operation, Text, Uuid } from './operation.ts'

const shape = Type.Object({
  id: Uuid,
  email: Type.String(),
  username: Type.String(),
  firstname: Nullable(Type.String()),
  lastname: Nullable(Type.String()),
  is_active: Type.Boolean(),
  is_verified: Type.Boolean(),
  is_superuser: Type.Boolean(),
})
/** The public profile of a user. */
export interface User extends Static<typeof shape> {}
export const User = named<User>('User', shape)

export const userOperations = {
  getUser: operation({
    method: 'GET',
    path: '/users/{user_id}',
    tag: 'users',
    summary: 'Read the public profile of a user',
    description: 'For any authenticated user. A deactivated user can be read too.',
    access: 'authenticated',
    params: Type.Object({ user_id: Uuid }),
    returns: { status: 200, schema: User },
    problems: ['user_not_found'],
  }),
  findUsers: operation({
    method: 'GET',
    path: '/users',
    tag: 'users',
    summary: 'Search active users by username, e-mail address or name',
    description:
      'Matches substrings, case-insensitively; ordered by username. `%`, `_` and `\\` are plain characters. With `USER_SEARCH=limited`, the default in production, only a full e-mail address matches, or a part of it for members of common boards; without a text, the result is the caller and the members of their boards. There is no second page. Searches are limited per minute and per day.',
    access: 'authenticated',
    query: Type.Object({
      search: Type.Optional(Text(254)),
      q: Type.Optional({ ...Text(254), description: 'Another name for `search`.' }),
      query: Type.Optional({ ...Text(254), description: 'Another name for `search`.' }),
      names: Type.Optional(Type.Enum(['true', 'false'], { description: '`true`: also search first and last names.' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 50 })),
    }),
    is_unpaged: true,
    returns: { status: 200, schema: Type.Array(User) },
  }),
}
