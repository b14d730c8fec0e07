import { once } from 'node:events'
import { type AddressInfo, createServer, type ListenOptions, type Server, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** For all of them together about as many connections wait at once as for a single one. */
const BACKLOG = 256
const LISTENERS = process.platform === 'linux' ? 4 : 1

/**
 * Listens at one address with several listeners. Node takes one connection of each in a turn of its event loop, and under load
 * a turn is long: with one, connections wait for seconds to be taken, those that ask for the health first of all.
 */
export async function listenWithReusePort(app: FastifyInstance, { host, port }: { host: string; port: number }) {
  const doors: Server[] = []
  app.addHook('preClose', async () => {
    for (const door of doors) door.close()
  })
  // What still runs on their connections is waited for, as on those of the first.
  app.addHook('onClose', async () => {
    await Promise.all(doors.map((door) => isEmpty(door)))
  })
  if (LISTENERS === 1) return app.listen({ host, port })
  const shared = { host, port: await claim(host, port), reusePort: true, backlog: BACKLOG }
  const listening = await app.listen(shared)
  for (let nth = 1; nth < LISTENERS; nth++) doors.push(await open(app, shared))
  return listening
}

/** Listeners that share an address do not notice that somebody else has it. One that shares nothing does. */
async function claim(host: string, port: number): Promise<number> {
  const alone = createServer().listen({ host, port })
  await once(alone, 'listening')
  const { port: claimed } = alone.address() as AddressInfo
  alone.close()
  await once(alone, 'close')
  return claimed
}

/** As the server of the framework would take its connections itself. */
async function open({ server }: FastifyInstance, shared: ListenOptions): Promise<Server> {
  const options = { allowHalfOpen: true, noDelay: true }
  const door = createServer(options, (socket: Socket & { server?: unknown }) => {
    socket.server = server
    server.emit('connection', socket)
  })
  door.listen(shared)
  await once(door, 'listening')
  return door
}

const isEmpty = (door: Server) =>
  new Promise<void>((resolve) => {
    door.getConnections((_error, count) => {
      if (count === 0) resolve()
      else door.once('close', () => resolve())
    })
  })
