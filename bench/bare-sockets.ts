import { createServer, type Socket } from 'node:net'
import { frame } from '../packages/server/src/realtime/frames.ts'

/**
 * The bare engine of fan-out: sockets of `net` in a process of its own, and the same bytes written to each in one loop.
 * It greets like the service, so that the same clients count what they get. Told what to do by its parent.
 */
const sockets = new Set<Socket>()
const server = createServer({ noDelay: true }, (socket) => {
  socket.once('data', () => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
    socket.write(frame('{"type":"hello","epoch":1,"seq":0}'))
    sockets.add(socket)
    // Whatever else clients say is read and forgotten.
    socket.resume()
  })
  socket.on('error', () => {})
  socket.on('close', () => sockets.delete(socket))
})
server.listen(0, '127.0.0.1', 20_000, () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' && address ? address.port : 0 })
})

process.on('message', ({ bytes }: { bytes: Uint8Array }) => {
  const shared = Buffer.from(bytes)
  for (const socket of sockets) socket.write(shared)
})
process.on('disconnect', () => process.exit())
