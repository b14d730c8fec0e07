import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { handleCommands } from '@lockstep/testing/load/worker'
import { frame } from '../packages/server/src/realtime/frames.ts'

/**
 * The bare engine of fan-out, in its own process: a `net` server that writes the same bytes to every socket in one loop. It
 * completes the WebSocket handshake like the service, so that the same clients can connect. The parent sends the bytes.
 */
export type BareSocketsCommand = { do: 'listen' } | { do: 'broadcast'; bytes: Uint8Array }

const sockets = new Set<Socket>()
const server = createServer({ noDelay: true }, (socket) => {
  socket.once('data', () => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
    socket.write(frame('{"type":"hello","epoch":1,"seq":0}'))
    sockets.add(socket)
    // Discards what clients send.
    socket.resume()
  })
  socket.on('error', () => {})
  socket.on('close', () => sockets.delete(socket))
})

handleCommands<BareSocketsCommand>(async (command) => {
  if (command.do === 'broadcast') {
    const shared = Buffer.from(command.bytes)
    for (const socket of sockets) socket.write(shared)
    return undefined
  }
  server.listen(0, '127.0.0.1', 20_000)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
})
