import type { Duplex } from 'node:stream'

/** Connections whose end is handled in one turn of the event loop. Each takes about 40 µs, most of it in Node.js. */
const MAX_ENDS = 100

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
  private readonly reading = new Set<Connection>()
  private readonly stopped = new Set<Connection>()
  private ends = 0
  private readonly onClose: (this: Connection) => void

  constructor() {
    const { reading, stopped } = this
    this.onClose = function () {
      reading.delete(this)
      stopped.delete(this)
    }
  }

  track(connection: Connection) {
    this.reading.add(connection)
    connection.on('end', this.onEnd)
    connection.on('error', this.onEnd)
    connection.on('close', this.onClose)
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
    for (const connection of this.reading) {
      this.stopped.add(connection)
      if (connection._handle?.reading) connection._handle.readStop()
    }
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
