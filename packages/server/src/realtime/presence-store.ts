import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { PRESENCE_SECONDS } from '@lockstep/contract/realtime'
import { channelOf, tagOf } from './bus.ts'

const text = readFileSync(new URL('presence.lua', import.meta.url), 'utf8')
const script = { text, sha: createHash('sha1').update(text).digest('hex') }
export const LIFETIME_MS = PRESENCE_SECONDS * 1_000
/** Lifetime of a connection after its instance shut down: long enough to reconnect to another one. */
const DRAINED_MS = 10_000

/** A connection of a user to a board. */
export interface Connection {
  id: string
  user_id: string
  username: string
}

export type PresenceOperation = 'open' | 'join' | 'refresh' | 'leave' | 'shorten' | 'reap' | 'list'

export interface PresenceReply {
  /** When the next connection expires; negative if there is none. */
  nextExpiryMs: number
  version: number
  /** The numbered messages of what this call changed. */
  messages: string[]
  /** User id to username; only returned by `open` and `list`. */
  users: Map<string, string>
}

type RunScript = (script: { sha: string; text: string }, keys: string[], args: string[]) => Promise<unknown>

/** The presence of all boards in Redis. One Lua script changes the state and publishes the changes, so that they are in order. */
export class PresenceStore {
  private readonly runScript: RunScript

  constructor(runScript: RunScript) {
    this.runScript = runScript
  }

  async run(operation: PresenceOperation, board_id: string, connections: Connection[] = []): Promise<PresenceReply> {
    const tag = tagOf(board_id)
    const keys = ['connections', 'users', 'names', 'version'].map((key) => `${tag}:p:${key}:${board_id}`)
    const lifetime = operation === 'shorten' ? DRAINED_MS : LIFETIME_MS
    const fields = connections.flatMap(({ id, user_id, username }) => [id, user_id, username])
    const args = [operation, String(lifetime), channelOf(board_id), String(PRESENCE_SECONDS * 2), ...fields]
    const [nextExpiry, version, messages, names] = (await this.runScript(script, keys, args)) as [
      string,
      string,
      string[],
      string[],
    ]
    const users = new Map(chunks(names, 2).map(([user_id, username]) => [user_id as string, username as string]))
    return { nextExpiryMs: Number(nextExpiry), version: Number(version), messages, users }
  }
}

export function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
}
