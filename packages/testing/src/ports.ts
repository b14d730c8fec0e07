import { createServer, type Server } from 'node:net'

const FIRST = 20_000
const LAST = 31_000

/** A free port below the ephemeral range. Another process may take it, so the caller must retry. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST))
    if (await isFree(port)) return port
  }
}

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })

/** Listens on a free port of the loopback interface. Returns the port. */
export async function listenOnFreePort(server: Pick<Server, 'once' | 'listen'>): Promise<number> {
  for (;;) {
    const port = await freePort()
    const isListening = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (isListening) return port
  }
}
