import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

export interface FaultyLine {
  base_url: string
  /** Where the service is now. */
  leadTo: (base_url: string) => void
  /** Breaks every connection that is open now. */
  cut: () => void
  /** Connections that are open now are dead from here on, and nobody is told. New ones work. */
  deaden: () => void
  /** Holds everything back by so much. */
  delay: (ms: number) => void
  close: () => Promise<void>
}

/** Stands between a client and the service, and fails on demand. The service may move behind it. */
export async function startFaultyLine(base_url: string): Promise<FaultyLine> {
  let target = new URL(base_url)
  let delay_ms = 0
  const sockets = new Set<Socket>()
  const dead = new WeakSet<Socket>()
  const server = createServer((client) => {
    const service = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [client, service],
      [service, client],
    ] as const) {
      sockets.add(from)
      from.setNoDelay()
      from.on('error', () => {})
      from.on('data', (bytes) => {
        if (dead.has(from)) return
        if (delay_ms === 0) to.write(bytes)
        else setTimeout(() => to.destroyed || to.write(bytes), delay_ms)
      })
      from.on('close', () => {
        sockets.delete(from)
        if (!dead.has(from)) setTimeout(() => to.destroy(), delay_ms)
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo: (url) => {
      target = new URL(url)
    },
    cut,
    deaden: () => {
      for (const socket of sockets) dead.add(socket)
    },
    delay: (ms) => {
      delay_ms = ms
    },
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      cut()
      return closed
    },
  }
}
