import { connect, createServer, type Socket } from 'node:net'
import { freePort } from './ports.ts'

/**
 * What crossed the proxy towards PostgreSQL: statements executed, and how often the client waited for an answer. Without
 * the statement that reads the clock, which a service runs every few seconds.
 */
export interface Traffic {
  statements: number
  round_trips: number
}

export interface TcpProxy {
  /** The address of the store with the proxy before it. */
  url: string
  /** What crosses while the work is done. */
  during: (work: () => Promise<unknown>) => Promise<Traffic>
  /** How many bytes the store has sent so far. */
  sentBytes: () => number
  /** Breaks every connection that is open now. */
  cut: () => void
  /** Connections that are open now are dead from now on, and nobody is told; new ones are served. */
  forget: () => void
  /** From now on nothing gets through in either direction, and nobody is told. */
  freeze: () => void
  thaw: () => void
  /** The store is elsewhere from now on. Whoever is connected is cut off. */
  leadTo: (target: string) => void
  close: () => Promise<void>
}

/**
 * Answers are held back a little: statements that the client sends without waiting are then seen before the first answer,
 * and count as one round trip.
 */
const ANSWER_DELAY_MS = 4
const CLOCK_STATEMENT = 'read_clock'

/**
 * Stands between the service and a store, to count what is said and to fail on demand. It counts PostgreSQL's protocol, and
 * hears what PostgreSQL notes on the side. With `ask_delay_ms` the store is far away.
 */
export async function startProxy(
  target: string,
  { hear, askDelayMs = 0 }: { hear?: (note: string) => void; askDelayMs?: number } = {},
): Promise<TcpProxy> {
  let { hostname, port: target_port } = new URL(target)
  const traffic: Traffic = { statements: 0, round_trips: 0 }
  const sockets = new Set<Socket>()
  let sent_bytes = 0
  let isFrozen = false

  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.setNoDelay()
    if (isFrozen) socket.pause()
    // The other side learns of an error by the close that follows it.
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    const store = connect(Number(target_port), hostname)
    keep(client)
    keep(store)
    // Whether the client has heard an answer since it last asked: what it asks then, it could not ask before.
    let hasHeard = true
    let isClock = false
    const asked = messageReader({ hasPreamble: true }, (type, content) => {
      // A bind message: the name of the portal, then the name of the prepared statement, each ended by a zero.
      if (type === 'B') isClock = content.toString('latin1').split('\0', 2)[1] === CLOCK_STATEMENT
      if (type === 'Q') isClock = false
      if (isClock) return
      if (type === 'E' || type === 'Q') traffic.statements++
      if (type !== 'S' && type !== 'Q') return
      if (hasHeard) traffic.round_trips++
      hasHeard = false
    })
    const answered = messageReader({ hasPreamble: false }, (type, content) => {
      if (type === 'Z') hasHeard = true
      if (type === 'N') hear?.(noteOf(content))
    })
    client.on('data', (bytes) => {
      asked(bytes)
      if (askDelayMs === 0) store.write(bytes)
      else setTimeout(() => store.write(bytes), askDelayMs)
    })
    store.on('data', (bytes) => {
      sent_bytes += bytes.length
      setTimeout(() => {
        answered(bytes)
        client.write(bytes)
      }, ANSWER_DELAY_MS)
    })
    client.on('close', () => store.destroy())
    store.on('close', () => setTimeout(() => client.destroy(), ANSWER_DELAY_MS))
  })
  const port = await listen(server)

  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const forget = () => {
    for (const socket of sockets) socket.pause()
  }
  return {
    url: Object.assign(new URL(target), { hostname: '127.0.0.1', port: String(port) }).href,
    during: async (work) => {
      const before = { ...traffic }
      await work()
      return {
        statements: traffic.statements - before.statements,
        round_trips: traffic.round_trips - before.round_trips,
      }
    },
    sentBytes: () => sent_bytes,
    cut,
    forget,
    freeze: () => {
      isFrozen = true
      forget()
    },
    thaw: () => {
      isFrozen = false
      for (const socket of sockets) socket.resume()
    },
    leadTo: (url) => {
      ;({ hostname, port: target_port } = new URL(url))
      cut()
    },
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      cut()
      return closed
    },
  }
}

/** The text of a note: one of its fields, each of which begins with a letter and ends with a zero. */
const noteOf = (content: Buffer) =>
  content
    .toString()
    .split('\0')
    .find((field) => field.startsWith('M'))
    ?.slice(1) ?? ''

/** Tells the type and the content of every message of one direction. A client's first message has a length and no type. */
function messageReader({ hasPreamble }: { hasPreamble: boolean }, tell: (type: string, content: Buffer) => void) {
  let rest: Buffer = Buffer.alloc(0)
  let typeBytes = hasPreamble ? 0 : 1
  return (bytes: Buffer | string) => {
    // Without an encoding a socket gives buffers.
    rest = Buffer.concat([rest, bytes as Buffer])
    while (rest.length >= typeBytes + 4) {
      const length = typeBytes + rest.readInt32BE(typeBytes)
      if (rest.length < length) return
      if (typeBytes === 1) tell(String.fromCharCode(rest.readUInt8(0)), rest.subarray(5, length))
      rest = rest.subarray(length)
      typeBytes = 1
    }
  }
}

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  for (;;) {
    const port = await freePort()
    const isOurs = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (isOurs) return port
  }
}
