import { once } from 'node:events'
import { type AddressInfo, createServer, type ListenOptions, type Server, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Per listener, so that all together have about the default of a single one. */
const BACKLOG = 256
const LISTENERS = process.platform === 'linux' ? 4 : 1

interface ListenSettings {
  host: string
  port: number
  /** The log line for each address. */
  describe?: (address: string) => string
}

/**
 * Listens with several listeners on one port (SO_REUSEPORT). Node accepts one connection per listener in each iteration of the
 * event loop, and under load an iteration is long: with a single listener, new connections, such as health checks, would wait
 * for seconds.
 */
export async function listenWithReusePort(app: FastifyInstance, { host, port, describe }: ListenSettings) {
  const listeners: Server[] = []
  app.addHook('preClose', async () => {
    for (const listener of listeners) listener.close()
  })
  // Waits for requests on their connections, as Fastify does for its own listener.
  app.addHook('onClose', async () => {
    await Promise.all(listeners.map((listener) => isEmpty(listener)))
  })
  const text = describe && { listenTextResolver: describe }
  if (LISTENERS === 1) return app.listen({ host, port, ...text })
  const shared = { host, port: await claim(host, port), reusePort: true, backlog: BACKLOG }
  const listening = await app.listen({ ...shared, ...text })
  for (let nth = 1; nth < LISTENERS; nth++) listeners.push(await open(app, shared))
  return listening
}

/** Fails if another process uses the port, which SO_REUSEPORT would not notice. Returns the port. */
async function claim(host: string, port: number): Promise<number> {
  const probe = createServer().listen({ host, port })
  await once(probe, 'listening')
  const { port: claimed } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return claimed
}

/** Opens a listener that passes its connections to the server of the framework. */
async function open({ server }: FastifyInstance, shared: ListenOptions): Promise<Server> {
  const options = { allowHalfOpen: true, noDelay: true }
  const listener = createServer(options, (socket: Socket & { server?: unknown }) => {
    socket.server = server
    server.emit('connection', socket)
  })
  listener.listen(shared)
  await once(listener, 'listening')
  return listener
}

const isEmpty = (listener: Server) =>
  new Promise<void>((resolve) => {
    listener.getConnections((_error, count) => {
      if (count === 0) resolve()
      else listener.once('close', () => resolve())
    })
  })
