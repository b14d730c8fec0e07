import { connect, createServer, type Socket } from 'node:net'
import { listenOnFreePort } from './ports.ts'

/**
 * Statements that were sent to PostgreSQL through the proxy, and round trips. The periodic statement that reads the
 * clock is not counted.
 */
export interface Traffic {
  statements: number
  roundTrips: number
}

export interface TcpProxy {
  /** The address of the store through the proxy. */
  url: string
  /** Counts the traffic during `work`. */
  during: (work: () => Promise<unknown>) => Promise<Traffic>
  /** The number of bytes that the store has sent. */
  sentBytes: () => number
  /** Breaks every connection that is open now. */
  cut: () => void
  /** Silently stops all open connections, without closing them. New ones work. */
  forget: () => void
  /** Stops all traffic in both directions, without closing connections. */
  freeze: () => void
  thaw: () => void
  /** Redirects new connections to another store, and closes the open ones. */
  leadTo: (target: string) => void
  close: () => Promise<void>
}

/**
 * Responses are delayed a little, so that statements that the client sends without waiting are seen before the first
 * response, and count as one round trip.
 */
const ANSWER_DELAY_MS = 4
const CLOCK_STATEMENT = 'read_clock'

/**
 * A TCP proxy in front of a store that counts traffic and injects faults. It parses PostgreSQL's protocol, and passes
 * PostgreSQL's notices to `hear`. `askDelayMs` simulates a remote store.
 */
export async function startProxy(
  target: string,
  { hear, askDelayMs = 0 }: { hear?: (note: string) => void; askDelayMs?: number } = {},
): Promise<TcpProxy> {
  let { hostname, port: targetPort } = new URL(target)
  const traffic: Traffic = { statements: 0, roundTrips: 0 }
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
    const store = connect(Number(targetPort), hostname)
    keep(client)
    keep(store)
    // Whether the client got a response since its last request: then its next request is a new round trip.
    let hasHeard = true
    let isClock = false
    const asked = messageReader({ hasPreamble: true }, (type, content) => {
      // A bind message: the name of the portal, then the name of the prepared statement, each ended by a zero.
      if (type === 'B') isClock = content.toString('latin1').split('\0', 2)[1] === CLOCK_STATEMENT
      if (type === 'Q') isClock = false
      if (isClock) return
      if (type === 'E' || type === 'Q') traffic.statements++
      if (type !== 'S' && type !== 'Q') return
      if (hasHeard) traffic.roundTrips++
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
  const port = await listenOnFreePort(server)

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
        roundTrips: traffic.roundTrips - before.roundTrips,
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
      ;({ hostname, port: targetPort } = new URL(url))
      cut()
    },
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      cut()
      return closed
    },
  }
}

/** The text of a notice: one of its fields, which start with a letter and end with a zero byte. */
const noteOf = (content: Buffer) =>
  content
    .toString()
    .split('\0')
    .find((field) => field.startsWith('M'))
    ?.slice(1) ?? ''

/** Parses the messages of one direction. A client's first message has a length but no type. */
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
