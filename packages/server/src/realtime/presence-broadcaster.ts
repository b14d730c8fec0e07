import type { Clock } from '../platform/clock.ts'
import { yieldingForEach } from '../platform/yielding-for-each.ts'

/** A presence message for all connections of a board. */
export interface PresenceChange {
  bytes: Buffer
  user_id: string
  hasLeft: boolean
  /** The connection that joined. It was sent the message already, and needs no earlier ones. */
  connection: string
}
interface Recipient {
  readonly id: string
  readonly user_id: string
  send: (bytes: Buffer) => void
}
interface BroadcasterEnvironment extends Pick<Clock, 'after'> {
  recipientsOf: (board_id: string) => ReadonlySet<Recipient> | undefined
}

/** After a broadcast, a board pauses for one millisecond per this many connections. */
const CONNECTIONS_PER_PAUSE_MS = 20

/**
 * Coalesced presence broadcast. When n clients connect at once, each is sent a message about each other. Changes during a
 * broadcast, and during the pause after it, are therefore combined into the next one. The pause grows with the number of
 * connections.
 */
export class PresenceBroadcaster {
  private readonly environment: BroadcasterEnvironment
  /** Changes for the next broadcast, for boards that have one in progress. */
  private readonly waiting = new Map<string, PresenceChange[]>()

  constructor(environment: BroadcasterEnvironment) {
    this.environment = environment
  }

  broadcast(board_id: string, change: PresenceChange) {
    const waiting = this.waiting.get(board_id)
    if (waiting) return void waiting.push(change)
    this.waiting.set(board_id, [change])
    this.sendWaiting(board_id)
  }

  private sendAll(board_id: string, changes: PresenceChange[]) {
    const recipients = this.environment.recipientsOf(board_id) ?? new Set()
    const all = Buffer.concat(changes.map(({ bytes }) => bytes))
    /** Where the messages begin that follow the join of a connection. */
    const starts = new Map<string, number>()
    let end = 0
    for (const { bytes, connection } of changes) {
      end += bytes.length
      starts.set(connection, end)
    }
    const leavers = new Set(changes.flatMap(({ user_id, hasLeft }) => (hasLeft ? [user_id] : [])))
    const messagesFor = ({ id, user_id }: Recipient): Buffer => {
      const start = starts.get(id)
      if (start !== undefined) return all.subarray(start)
      if (!leavers.has(user_id)) return all
      // The user has connected again since.
      return Buffer.concat(
        changes.filter((change) => !change.hasLeft || change.user_id !== user_id).map(({ bytes }) => bytes),
      )
    }
    const send = (recipient: Recipient) => {
      const bytes = messagesFor(recipient)
      if (bytes.length > 0) recipient.send(bytes)
    }
    yieldingForEach(recipients, send, () => this.pause(board_id, recipients.size))
  }

  private pause(board_id: string, connections: number) {
    this.environment.after(connections / CONNECTIONS_PER_PAUSE_MS, () => this.sendWaiting(board_id))
  }

  private sendWaiting(board_id: string) {
    const changes = this.waiting.get(board_id) ?? []
    if (changes.length === 0) return void this.waiting.delete(board_id)
    this.waiting.set(board_id, [])
    this.sendAll(board_id, changes)
  }
}
