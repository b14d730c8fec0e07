import { yieldingForEach } from '../platform/yielding-for-each.ts'

/** A presence message for all connections of a board, except the one that was sent it already. */
interface PresenceChange {
  bytes: Buffer
  except: string
}
interface Recipient {
  readonly id: string
  send: (bytes: Buffer) => void
}

/** After a broadcast, a board pauses for one millisecond per this many connections. */
const CONNECTIONS_PER_PAUSE_MS = 20

/**
 * Coalesced presence broadcast. When n clients connect at once, each is sent a message about each other. Changes during a
 * broadcast, and during the pause after it, are therefore combined into the next one. The pause grows with the number of
 * connections.
 */
export class PresenceBroadcaster {
  private readonly recipientsOf: (board_id: string) => ReadonlySet<Recipient> | undefined
  /** Changes for the next broadcast, for boards that have one in progress. */
  private readonly waiting = new Map<string, PresenceChange[]>()

  constructor(recipientsOf: (board_id: string) => ReadonlySet<Recipient> | undefined) {
    this.recipientsOf = recipientsOf
  }

  broadcast(board_id: string, change: PresenceChange) {
    const waiting = this.waiting.get(board_id)
    if (waiting) return void waiting.push(change)
    this.waiting.set(board_id, [])
    this.sendAll(board_id, [change])
  }

  private sendAll(board_id: string, changes: PresenceChange[]) {
    const recipients = this.recipientsOf(board_id) ?? new Set()
    const all = Buffer.concat(changes.map(({ bytes }) => bytes))
    const excepted = new Set(changes.map(({ except }) => except))
    const allExcept = (id: string) =>
      Buffer.concat(changes.filter(({ except }) => except !== id).map(({ bytes }) => bytes))
    yieldingForEach(
      recipients,
      (recipient) => recipient.send(excepted.has(recipient.id) ? allExcept(recipient.id) : all),
      () => setTimeout(() => this.sendWaiting(board_id), recipients.size / CONNECTIONS_PER_PAUSE_MS).unref(),
    )
  }

  private sendWaiting(board_id: string) {
    const changes = this.waiting.get(board_id) ?? []
    if (changes.length === 0) return void this.waiting.delete(board_id)
    this.waiting.set(board_id, [])
    this.sendAll(board_id, changes)
  }
}
