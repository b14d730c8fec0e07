import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

export interface FaultyConnection {
  baseUrl: string
  /** Changes the address of the service. */
  setTarget: (baseUrl: string) => void
  /** Resets all open connections. */
  cut: () => void
  /** Open connections stay open but silently drop all data. New ones work. */
  blackhole: () => void
  /** Delays all data. */
  delay: (ms: number) => void
  close: () => Promise<void>
}

/** TCP proxy with faults on demand. The service behind it may move. */
export async function startFaultyConnection(baseUrl: string): Promise<FaultyConnection> {
  let target = new URL(baseUrl)
  let delayMs = 0
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
        if (delayMs === 0) to.write(bytes)
        else setTimeout(() => to.destroyed || to.write(bytes), delayMs)
      })
      from.on('close', () => {
        sockets.delete(from)
        if (!dead.has(from)) setTimeout(() => to.destroy(), delayMs)
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setTarget: (url) => {
      target = new URL(url)
    },
    cut,
    blackhole: () => {
      for (const socket of sockets) dead.add(socket)
    },
    delay: (ms) => {
      delayMs = ms
    },
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      cut()
      return closed
    },
  }
}
