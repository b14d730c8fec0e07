import { yieldingForEach } from '../platform/yielding-for-each.ts'

/** Something that everybody on a board is told but for one connection, which knows. */
interface PresenceChange {
  bytes: Buffer
  except: string
}
interface Told {
  readonly id: string
  send: (bytes: Buffer) => void
}

/** After a round, a board rests for a millisecond for each so many of its connections. */
const PER_REST_MS = 20

/**
 * Tells a board's connections who comes and goes. A crowd that comes at once would cost each a message about each other:
 * what happens during a round, and a rest after it that grows with the audience, is told together in the next.
 */
export class PresenceBroadcaster {
  private readonly audience: (board_id: string) => ReadonlySet<Told> | undefined
  /** What waits for the next round, for the boards that have one under way. */
  private readonly waiting = new Map<string, PresenceChange[]>()

  constructor(audience: (board_id: string) => ReadonlySet<Told> | undefined) {
    this.audience = audience
  }

  broadcast(board_id: string, notice: PresenceChange) {
    const waiting = this.waiting.get(board_id)
    if (waiting) return void waiting.push(notice)
    this.waiting.set(board_id, [])
    this.handOut(board_id, [notice])
  }

  private handOut(board_id: string, notices: PresenceChange[]) {
    const audience = this.audience(board_id) ?? new Set()
    const all = Buffer.concat(notices.map((notice) => notice.bytes))
    const excepted = new Set(notices.map((notice) => notice.except))
    const allBut = (id: string) => Buffer.concat(notices.filter((n) => n.except !== id).map((n) => n.bytes))
    yieldingForEach(
      audience,
      (told) => told.send(excepted.has(told.id) ? allBut(told.id) : all),
      () => setTimeout(() => this.goOn(board_id), audience.size / PER_REST_MS).unref(),
    )
  }

  private goOn(board_id: string) {
    const notices = this.waiting.get(board_id) ?? []
    if (notices.length === 0) return void this.waiting.delete(board_id)
    this.waiting.set(board_id, [])
    this.handOut(board_id, notices)
  }
}
