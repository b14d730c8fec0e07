import type { Position } from './core.ts'
import type { BoardEvent, OnlineUser } from './types.ts'

/** Somebody came, or his last connection went. */
export type UserMessage = { type: 'user_joined' | 'user_left' } & OnlineUser
/** What comes over the socket of a board. */
export type Message =
  | ({ type: 'hello' | 'resync' } & Position)
  | { type: 'ping'; seq: number }
  | UserMessage
  | BoardEvent

/** What is no message means nothing. */
export function parse(data: unknown): Message | undefined {
  try {
    return JSON.parse(String(data)) as Message
  } catch {
    return undefined
  }
}

/** The list of those who are here, after somebody came or went. */
export function withUser(users: OnlineUser[], { type, user_id, username }: UserMessage): OnlineUser[] {
  const others = users.filter((user) => user.user_id !== user_id)
  if (type === 'user_left') return others
  return others.length === users.length ? [...users, { user_id, username }] : users
}
