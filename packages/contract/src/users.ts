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
/** What others may know of a user. The password hash has no place in it. */
export interface User extends Static<typeof shape> {}
export const User = named<User>('User', shape)

export const userOperations = {
  getUser: operation({
    method: 'GET',
    path: '/users/{user_id}',
    tag: 'users',
    summary: 'Read the public profile of a user',
    access: 'authenticated',
    params: Type.Object({ user_id: Uuid }),
    returns: { status: 200, schema: User },
    problems: ['user_not_found'],
  }),
  findUsers: operation({
    method: 'GET',
    path: '/users',
    tag: 'users',
    summary: 'Find active users by a part of their username, e-mail address or name',
    description:
      'Case-insensitive, ordered by username. `%`, `_` and `\\` are plain characters. With `USER_SEARCH=limited`, the default in production, an e-mail address matches as a whole, and by a part only for people on a common board. There is no second page, and searches are limited by minute and by day.',
    access: 'authenticated',
    query: Type.Object({
      search: Type.Optional(Text(254)),
      q: Type.Optional({ ...Text(254), description: 'Another name for `search`.' }),
      names: Type.Optional(
        Type.Enum(['true', 'false'], { description: '`true`: also by a part of the first and last name.' }),
      ),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 50 })),
    }),
    returns: { status: 200, schema: Type.Array(User) },
  }),
}
