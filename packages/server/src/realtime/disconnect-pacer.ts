import type { Duplex } from 'node:stream'

/** Connections whose end is handled in one turn of the event loop. Each takes about 40 µs, most of it in Node.js; the first ones take more. */
const MAX_ENDS = 25

/** A TCP connection with Node's internal handle. Reading is stopped there, because a paused stream notices its end all the same. */
interface Connection extends Duplex {
  _handle?: { reading: boolean; readStart: () => void; readStop: () => void } | null
}

/**
 * Spreads the end of many connections over several turns of the event loop. When a proxy or a network fails, thousands end at once, and Node
 * would handle all of them in one turn. After some ends in a turn, reading stops on all connections; each following turn
 * resumes a few.
 */
export class DisconnectPacer {
  private reading = new Set<Connection>()
  private stopped = new Set<Connection>()
  private ends = 0

  /** Whether many connections are ending, and some of the open ones may have ended too. */
  get isPacing() {
    return this.stopped.size > 0
  }

  track(connection: Connection) {
    this.reading.add(connection)
    connection.on('end', this.onEnd)
    connection.on('error', this.onEnd)
    connection.on('close', () => {
      this.reading.delete(connection)
      this.stopped.delete(connection)
    })
  }

  private readonly onEnd = () => {
    if (this.ends++ === 0) setImmediate(this.startTurn)
    if (this.ends === MAX_ENDS) this.stopAll()
  }
  private readonly startTurn = () => {
    this.ends = 0
  }

  private stopAll() {
    if (this.stopped.size === 0) setImmediate(this.resumeSome)
    for (const connection of this.reading) if (connection._handle?.reading) connection._handle.readStop()
    // Exchanged if possible: moving thousands of connections takes as long as stopping them.
    if (this.stopped.size === 0) [this.reading, this.stopped] = [this.stopped, this.reading]
    for (const connection of this.reading) this.stopped.add(connection)
    this.reading.clear()
  }

  private readonly resumeSome = () => {
    let resumed = 0
    for (const connection of this.stopped) {
      if (resumed++ === MAX_ENDS) break
      this.stopped.delete(connection)
      this.reading.add(connection)
      if (connection._handle?.reading) connection._handle.readStart()
    }
    if (this.stopped.size > 0) setImmediate(this.resumeSome)
  }
}
