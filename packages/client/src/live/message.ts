import { parseJson } from '../parse-json.ts'
import type { Position } from './core.ts'
import type { BoardEvent, OnlineUser } from './types.ts'

/** A user connected, or their last connection closed. */
export type PresenceMessage = { type: 'user_joined' | 'user_left' } & OnlineUser
/** A WebSocket message of a board. */
export type Message =
  | ({ type: 'hello' | 'resync' } & Position)
  | { type: 'ping'; seq: number }
  | PresenceMessage
  | BoardEvent

/** Parses a message; undefined if it is not JSON. */
export const parseMessage = (data: unknown) => parseJson(data) as Message | undefined

/** The presence list after a user has joined or left. */
export function applyPresence(users: OnlineUser[], { type, user_id, username }: PresenceMessage): OnlineUser[] {
  const others = users.filter((user) => user.user_id !== user_id)
  if (type === 'user_left') return others
  return others.length === users.length ? [...users, { user_id, username }] : users
}
